import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { scratch, setting } from './run.ts'

const readyWithinMs = 60_000

export type HttpResponse = { readonly code: number; readonly body: string; readonly retryAfter: string }
export type ReplicaOptions = {
  readonly namespace: string
  readonly authentication?: object
  /**
   * Issuer of the tokens. With the issuer and namespace of the running kapis-oauth, kapis-apiserver
   * accepts them.
   */
  readonly issuer?: string
  readonly clockSkewSeconds?: number
  readonly keyRotationSeconds?: number
}
export type Replica = { readonly child: ChildProcess; readonly socket: string; readonly log: () => string }

/** Without KAPIS_* variables, which take precedence over the configuration file. */
export const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('KAPIS_')),
)

/** Starts a second kapis-oauth with signing keys in `namespace`, and the same users and logins. */
export function start(
  name: string,
  { namespace, issuer = 'https://replicas.test/oauth', clockSkewSeconds = 10, ...options }: ReplicaOptions,
): Replica {
  const { keyRotationSeconds, ...rest } = options
  const socket = join(scratch, `${name}.sock`)
  const config = join(scratch, `${name}.json`)
  writeFileSync(
    config,
    JSON.stringify({
      groupDomain: setting('KAPIS_GROUP_DOMAIN'),
      kubernetes: { kubeconfig: setting('KUBECONFIG'), namespace },
      oauth: { socket, issuer, clockSkewSeconds, keyRotationSeconds },
      ...rest,
    }),
  )
  const child = spawn(process.execPath, ['cmd/oauth/main.ts', '--config', config], {
    stdio: ['ignore', 'inherit', 'pipe'],
    env,
  })
  let log = ''
  child.stderr?.setEncoding('utf8').on('data', text => {
    log += text
  })
  return { child, socket, log: () => log }
}

export async function stop({ child }: Replica, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
  return child.exitCode
}

export function send(
  { socket }: Replica,
  path: string,
  form?: Readonly<Record<string, string>>,
  from?: string,
): Promise<HttpResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>()
  const method = form === undefined ? 'GET' : 'POST'
  const headers = {
    ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
    // The header that kapis-apiserver sends with the address of its caller.
    ...(from === undefined ? {} : { 'x-forwarded-for': from }),
  }
  const req = request({ socketPath: socket, path, method, headers, agent: false }, async res => {
    const { 'retry-after': retryAfter = '' } = res.headers
    resolve({
      code: res.statusCode ?? 0,
      retryAfter,
      body: Buffer.concat(await res.toArray()).toString('utf8'),
    })
  })
  req.on('error', reject)
  req.end(form === undefined ? undefined : String(new URLSearchParams(form)))
  return promise
}

export async function ready(replica: Replica): Promise<Replica> {
  const deadline = Date.now() + readyWithinMs
  for (;;) {
    const code = await send(replica, '/healthz').then(
      response => response.code,
      () => 0,
    )
    if (code === 200) return replica
    if (Date.now() > deadline || replica.child.exitCode !== null)
      throw new Error(`not ready: ${replica.log()}`)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

type RequestOptions = { readonly headers?: Readonly<Record<string, string>>; readonly body?: string }

/** A load balancer that sends requests to the replicas in turn, for createBrowser. */
export function alternating(replicas: readonly Replica[]) {
  let turn = 0
  return {
    send(method: string, path: string, { headers = {}, body }: RequestOptions = {}) {
      const { socket } = replicas[turn++ % replicas.length] as Replica
      const { promise, resolve, reject } = Promise.withResolvers<{
        code: number
        headers: NodeJS.Dict<string | string[]>
        body: string
      }>()
      const req = request({ socketPath: socket, method, path, headers, agent: false }, async res => {
        const text = Buffer.concat(await res.toArray()).toString('utf8')
        resolve({ code: res.statusCode ?? 0, headers: res.headers, body: text })
      })
      req.on('error', reject)
      req.end(body)
      return promise
    },
  }
}
