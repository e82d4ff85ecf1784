import type { Io } from '../command.ts'
import { freshLogin } from './fresh-login.ts'
import { type Answer, type Ask, ask, parseJson, toError } from './http.ts'
import type { Server } from './server.ts'

/** Calls to the platform as whoever has logged in. */
export type Platform = {
  /** @throws Error in the server's words */
  readonly call: (what: string, path: string, options?: Ask) => Promise<Answer>
}

/** With the token of KAPIS_TOKEN, otherwise with that of the login. */
export async function connectPlatform(server: Server, io: Io): Promise<Platform> {
  const given = io.env.KAPIS_TOKEN ?? ''
  const token = given === '' ? (await freshLogin(server, io)).accessToken : given
  return {
    async call(what, path, options = {}) {
      const type = options.body === undefined ? {} : { 'content-type': 'application/json' }
      const headers = {
        accept: 'application/json',
        ...type,
        ...options.headers,
        authorization: `Bearer ${token}`,
      }
      const answer = await ask(server, path, { ...options, headers })
      if (answer.code < 200 || answer.code > 299) throw toError(answer, what)
      return answer
    },
  }
}

/** The group domain of the platform, which says what its groups are called. */
export async function findGroupDomain(platform: Platform, io: Io): Promise<string> {
  if (io.env.KAPIS_GROUP_DOMAIN) return io.env.KAPIS_GROUP_DOMAIN
  const { groups } = parseJson(await platform.call('cannot find the group domain', '/apis'))
  const names = Array.isArray(groups) ? groups.map(group => String(Object(group).name)) : []
  const domains = names.filter(name => name.startsWith('iam.')).map(name => name.slice('iam.'.length))
  const domain = domains.find(each => names.includes(`resources.${each}`)) ?? domains[0]
  if (domain === undefined) throw new Error('the platform does not serve users')
  return domain
}
