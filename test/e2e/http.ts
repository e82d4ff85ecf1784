import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createPasswordHasher } from '../../pkg/iam/passwords/password.ts'
import {
  group,
  type HttpResponse,
  kubeCa,
  kubectlJson,
  oneRequestEach,
  type RequestOptions,
  sendToKapis,
  version,
} from './cluster.ts'
import { output, setting } from './run.ts'

export const groupDomain = group.slice('resources.'.length)
export const platformPath = `/kapis/${group}/${version}/nodes`
/** The short path of nodes in the platform API, which SDKs of the platform use too. */
export const shortPath = `/kapi/${group}/${version}/nodes`

/** Maximum time until a login has ended: two seconds, and some more on a busy machine. */
export const endsWithinSeconds = 8

/** Sends one request to Kapis with an unmodified request target. */
export function askRaw(target: string, options: RequestOptions = {}): Promise<HttpResponse> {
  return askRawAt(setting('KAPIS_URL'), setting('KAPIS_CA'), target, options)
}

/** Sends one request to kube-apiserver with an unmodified request target. */
export async function askKubeRaw(target: string, options: RequestOptions = {}): Promise<HttpResponse> {
  return askRawAt(setting('KUBE_URL'), await kubeCa(), target, options)
}

function askRawAt(url: string, caFile: string, target: string, send: RequestOptions): Promise<HttpResponse> {
  const { method = 'GET', headers = {}, body } = send
  const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>()
  const { hostname, port } = new URL(url)
  const options = { hostname, port, path: target, method, headers, ca: readFileSync(caFile) }
  const req = request(
    { ...options, agent: oneRequestEach, timeout: 30_000 },
    async (res: IncomingMessage) => {
      try {
        const text = Buffer.concat(await res.toArray()).toString('utf8')
        resolve({ code: res.statusCode ?? 0, headers: res.headers, body: text })
      } catch (error) {
        reject(error)
      }
    },
  )
  req.on('timeout', () => req.destroy(new Error(`no response to ${target}`)))
  req.on('error', reject)
  req.end(body)
  return promise
}

/** Sends one request to kapis-apiserver with a bearer token. */
export function sendAs(token: string, path: string, options: RequestOptions = {}): Promise<HttpResponse> {
  return sendToKapis(path, { ...options, headers: { ...options.headers, authorization: `Bearer ${token}` } })
}

/** Sends a password login, which may fail. */
export function logIn(username: string, password: string): Promise<HttpResponse> {
  const form = new URLSearchParams({
    grant_type: 'password',
    username,
    password,
    client_id: setting('KAPIS_CLIENT_ID'),
    client_secret: setting('KAPIS_CLIENT_SECRET'),
  })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return sendToKapis('/oauth/token', { method: 'POST', headers, body: String(form) })
}

/** Returns the JSON of a Status, without details unless they are given. */
export function statusBody(code: number, reason: string, message: string, details?: object) {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code }
  return details === undefined ? status : { ...status, details }
}

export function expectStatus(response: HttpResponse, body: ReturnType<typeof statusBody>): void {
  expect(JSON.parse(response.body)).to.deep.equal(body)
  expect(response.code).to.equal(body.code)
  expect(response.headers['content-type']).to.equal('application/json')
}

/** Repeats a check until it succeeds. @returns the elapsed seconds */
export async function eventually(
  check: () => Promise<unknown>,
  withinMs: number,
  everyMs = 100,
): Promise<number> {
  const startedAt = performance.now()
  for (;;) {
    try {
      await check()
      return (performance.now() - startedAt) / 1000
    } catch (error) {
      if (performance.now() - startedAt > withinMs) throw error
    }
    await sleep(everyMs)
  }
}

/** Creates a user with the password of the first administrator and without permissions. */
export async function makeUser(name: string): Promise<void> {
  const password = await (await createPasswordHasher()).hash(setting('KAPIS_PASSWORD'))
  await apply({
    apiVersion: `iam.${groupDomain}/v1alpha2`,
    kind: 'User',
    metadata: { name },
    spec: { email: `${name}@example.com`, password },
  })
}

export async function apply(object: object): Promise<void> {
  await output('kubectl', ['create', '-f', '-'], { stdin: JSON.stringify(object) })
}

export type NodeObject = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly resourceVersion: string
    readonly creationTimestamp: string
    readonly selfLink?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly ownerReferences?: readonly { readonly uid: string; readonly kind: string }[]
    readonly managedFields?: readonly object[]
  }
  readonly spec: { readonly unschedulable?: boolean }
  readonly status: {
    readonly allocatable: Readonly<Record<string, string>>
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}
export type Page = { readonly items: readonly NodeObject[]; readonly totalItems: number }

export async function kubeNodes(): Promise<readonly NodeObject[]> {
  const list = await kubectlJson('get', 'nodes')
  return (list as { items: NodeObject[] }).items
}

export async function listAs(token: string, query = ''): Promise<Page> {
  const response = await sendAs(token, `${platformPath}${query}`)
  expect([response.code, response.headers['content-type']], response.body).to.deep.equal([
    200,
    'application/json',
  ])
  return JSON.parse(response.body)
}
