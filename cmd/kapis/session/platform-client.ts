import type { Command, Io } from '../command.ts'
import { assertOutput } from '../usage-options.ts'
import { findTarget, type ServerValues, tokenFromEnvironment } from './find-login.ts'
import { Connection, type HttpResponse, parseJson, toError } from './http.ts'
import { loginNames, type StoredLogin } from './login-store.ts'
import { loginEnded, refreshLogin } from './refresh-login.ts'
import { serverOptions } from './server-address.ts'

export type Members = Readonly<Record<string, unknown>>

export type PlatformRequest = {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

/**
 * Requests to the platform as the logged-in user. `what` describes a request for errors, as in
 * "failed to list the users"; errors have the message of the server.
 */
export type Platform = {
  readonly url: string
  /** Returns the body of the response. @throws Error */
  readonly text: (what: string, path: string, request?: PlatformRequest) => Promise<string>
  /** Returns the JSON object of the response; {} for any other body. @throws Error */
  readonly call: (what: string, path: string, request?: PlatformRequest) => Promise<Members>
  /** Returns the group domain of the platform, which is the suffix of its API groups. @throws Error */
  readonly groupDomain: () => Promise<string>
  /** Prints a response for programs, with `--output json`, or else calls `print`. */
  readonly show: (response: unknown, print: () => void) => void
}

/** Options of every command that prints responses of the platform. */
export const platformOptions = {
  ...serverOptions,
  output: { type: 'string', short: 'o', default: '' },
} as const
export type PlatformValues = ServerValues & { readonly output: string }

/** The values of these options for shell completion. */
export const platformOptionValues: NonNullable<Command['values']> = {
  '--context': loginNames,
  '--output': () => ['json'],
}

/** Connects with KAPIS_TOKEN, otherwise with the login. @throws Error if there is none */
export async function connectPlatform(values: PlatformValues, io: Io): Promise<Platform> {
  assertOutput(values.output)
  const target = findTarget(values, io)
  const { url } = target.server
  const fromEnvironment = tokenFromEnvironment(io, url)
  const login = fromEnvironment === undefined ? await refreshLogin(target, io) : undefined
  const authorization = `Bearer ${fromEnvironment ?? login?.accessToken ?? ''}`
  const connection = new Connection(target.server, io)
  async function send(what: string, path: string, request: PlatformRequest = {}): Promise<HttpResponse> {
    const { method, headers, body } = request
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const response = await connection.send(path, {
      headers: { accept: 'application/json', ...type, authorization, ...headers },
      ...(method && { method }),
      ...(body && { body: JSON.stringify(body) }),
    })
    if (response.status === 401) throw unauthorizedError(response, login)
    if (response.status < 200 || response.status > 299) throw toError(response, what)
    return response
  }
  let domain = io.env.KAPIS_GROUP_DOMAIN ?? ''
  const call: Platform['call'] = async (...request) => parseJson(await send(...request))
  return {
    url,
    text: async (...request) => (await send(...request)).text,
    call,
    async groupDomain() {
      domain ||= toGroupDomain(await call('find the group domain', '/apis'))
      return domain
    },
    show(response, print) {
      if (values.output === 'json') io.out(`${JSON.stringify(response, null, 2)}\n`)
      else print()
    },
  }
}

function toGroupDomain({ groups }: Members): string {
  const names = itemsOf(groups).map(({ name }) => String(name))
  const domains = names.filter(name => name.startsWith('iam.')).map(name => name.slice('iam.'.length))
  const domain = domains.find(each => names.includes(`resources.${each}`)) ?? domains[0]
  if (domain === undefined) throw new Error('the platform does not serve users')
  return domain
}

/** Returns the caller as kube-apiserver sees it (SelfSubjectReview). @throws Error */
export async function whoAmI(platform: Platform): Promise<Members> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  const { status } = await platform.call('get the user', path, { method: 'POST', body: review })
  return Object(Object(status).userInfo)
}

/** Returns the objects of a list in a response; none for any other value. */
export function itemsOf(value: unknown): readonly Members[] {
  return Array.isArray(value) ? value.map(Object) : []
}

function unauthorizedError(response: HttpResponse, login: StoredLogin | undefined): Error {
  return login === undefined ? toError(response, 'authenticate with KAPIS_TOKEN') : loginEnded(login)
}
