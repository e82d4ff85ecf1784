import type { Io } from '../command.ts'
import { findTarget, type ServerValues, tokenFromEnvironment } from './find-login.ts'
import { Connection, type HttpRequest, type HttpResponse, parseJson, toError } from './http.ts'
import type { StoredLogin } from './login-store.ts'
import { ended, refreshLogin } from './refresh-login.ts'

/** Requests to the platform as the logged-in user. */
export type Platform = {
  readonly url: string
  /**
   * @param what description of the request for errors, as in "failed to list the users"
   * @throws Error with the message of the server
   */
  readonly call: (what: string, path: string, request?: HttpRequest) => Promise<HttpResponse>
}

/** Connects with the token of KAPIS_TOKEN, otherwise with that of the login. */
export async function connectPlatform(values: ServerValues, io: Io): Promise<Platform> {
  const target = findTarget(values, io)
  const { url } = target.server
  const given = tokenFromEnvironment(io, url)
  const login = given === undefined ? await refreshLogin(target, io) : undefined
  const token = given ?? login?.accessToken ?? ''
  const connection = new Connection(target.server, io)
  return {
    url,
    async call(what, path, request = {}) {
      const type = request.body === undefined ? {} : { 'content-type': 'application/json' }
      const headers = { accept: 'application/json', ...type, authorization: `Bearer ${token}` }
      const response = await connection.send(path, {
        ...request,
        headers: { ...headers, ...request.headers },
      })
      if (response.status === 401) throw refused(response, login)
      if (response.status < 200 || response.status > 299) throw toError(response, what)
      return response
    },
  }
}

/** Returns the group domain of the platform, which is the suffix of its API groups. */
export async function findGroupDomain(platform: Platform, io: Io): Promise<string> {
  if (io.env.KAPIS_GROUP_DOMAIN) return io.env.KAPIS_GROUP_DOMAIN
  const { groups } = parseJson(await platform.call('find the group domain', '/apis'))
  const names = Array.isArray(groups) ? groups.map(group => String(Object(group).name)) : []
  const domains = names.filter(name => name.startsWith('iam.')).map(name => name.slice('iam.'.length))
  const domain = domains.find(each => names.includes(`resources.${each}`)) ?? domains[0]
  if (domain === undefined) throw new Error('the platform does not serve users')
  return domain
}

function refused(response: HttpResponse, login: StoredLogin | undefined): Error {
  return login === undefined ? toError(response, 'authenticate with KAPIS_TOKEN') : ended(login)
}
