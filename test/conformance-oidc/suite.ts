import { setTimeout as sleep } from 'node:timers/promises'
import { HttpClient } from '../../pkg/http/client.ts'

/** A module of a plan, with the variants that the suite has chosen for it. */
export type Module = { readonly testModule: string; readonly variant: Readonly<Record<string, string>> }

export type Result = {
  readonly name: string
  /** PASSED, WARNING, REVIEW (of a screenshot), SKIPPED, FAILED, or INTERRUPTED. */
  readonly result: string
  /** Messages of failures and warnings in the log of the module. */
  readonly messages: readonly string[]
}

const moduleTimeoutMs = 240_000

/** Client of the REST API of a running conformance suite. */
export class Suite {
  readonly #url: string
  readonly #http: HttpClient

  /** @param ca PEM of the certificate of the suite */
  constructor(url: string, ca: string) {
    this.#url = url
    this.#http = new HttpClient({ ca, env: {} })
  }

  async #call(method: 'GET' | 'POST', path: string, query: Readonly<Record<string, string>>, body?: string) {
    const url = new URL(`${this.#url}/api/${path}?${new URLSearchParams(query)}`)
    const headers = { 'content-type': 'application/json' }
    const { status, text } = await this.#http.send(url, {
      method,
      ...(body === undefined ? {} : { headers, body }),
    })
    if (status >= 300)
      throw new Error(`the suite responded with ${status} to ${method} ${path}: ${text.slice(0, 300)}`)
    return JSON.parse(text)
  }

  /** Polls until the suite responds, usually half a minute. */
  async ready(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted()
      try {
        await this.#call('GET', 'runner/available', {})
        return
      } catch {
        await sleep(1_000, undefined, { signal })
      }
    }
  }

  async createPlan(planName: string, variant: object, configuration: object) {
    const query = { planName, variant: JSON.stringify(variant) }
    const plan = await this.#call('POST', 'plan', query, JSON.stringify(configuration))
    return { id: String(plan.id), modules: plan.modules as readonly Module[] }
  }

  /** Runs a module. @param prepare acts for a person if the module waits before its start */
  async run(plan: string, module: Module, prepare: () => Promise<void>): Promise<Result> {
    const { testModule: name, variant } = module
    const query = { test: name, plan, variant: JSON.stringify(variant) }
    const { id } = await this.#call('POST', 'runner', query)
    const deadline = Date.now() + moduleTimeoutMs
    for (;;) {
      const { status, result } = await this.#call('GET', `info/${id}`, {})
      if (status === 'FINISHED' || status === 'INTERRUPTED')
        return { name, result: status === 'FINISHED' ? result : status, messages: await this.#messages(id) }
      if (Date.now() > deadline)
        return { name, result: 'INTERRUPTED', messages: [`still ${status}`, ...(await this.#messages(id))] }
      if (status === 'CONFIGURED') {
        await prepare()
        await this.#call('POST', `runner/${id}`, {})
      }
      await sleep(300)
    }
  }

  async #messages(id: string): Promise<readonly string[]> {
    const entries: readonly Record<string, unknown>[] = await this.#call('GET', `log/${id}`, {})
    const bad = entries.filter(({ result }) => result === 'FAILURE' || result === 'WARNING')
    return bad.map(({ src, msg }) => `${src}: ${msg}`)
  }
}
