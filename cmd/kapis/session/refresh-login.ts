import { commandLine } from '../../../pkg/shell/command-line.ts'
import type { Io } from '../command.ts'
import { withFileLock } from './file-lock.ts'
import { type Target, tokenFromEnvironment } from './find-login.ts'
import { Connection, parseJson } from './http.ts'
import { discover } from './issuer.ts'
import {
  type LoginKey,
  loginFile,
  readLogin,
  removeLogin,
  type StoredLogin,
  writeLogin,
} from './login-store.ts'
import { toTokens } from './token-response.ts'

// Minimum remaining lifetime of a token, for the duration of the request and differing clocks.
const earlyMs = 60_000

/**
 * Returns a login with a valid access token, which is refreshed if necessary. A refresh token is
 * valid once: of several concurrent kubectl processes one refreshes, and the others wait for its
 * result.
 *
 * @throws Error if there are no logins, or the login has ended
 */
export async function refreshLogin({ server, login: known, name }: Target, io: Io): Promise<StoredLogin> {
  if (known === undefined) throw notLoggedIn(server.url, name, io)
  if (isFresh(known)) return known
  const onWait = (lock: string) => io.err(`Waiting for another process to release ${lock}.\n`)
  const settings = { signal: io.signal, onWait }
  return withFileLock(loginFile(io.env, known), () => refresh(known, server.ca, io), settings)
}

/** Returns the command that logs in again. */
export function loginCommand({ url, name }: LoginKey): string {
  return commandLine('kapis', 'login', '--server', url, '--context', name)
}

async function refresh(key: LoginKey, ca: string, io: Io): Promise<StoredLogin> {
  const login = readLogin(io.env, key)
  if (login === undefined) throw loginEnded(key)
  if (isFresh(login)) return login
  // Does not use the signal of the command: an interrupt after the server has replaced the refresh
  // token would lose the new one.
  const { signal } = new AbortController()
  const connection = new Connection({ url: login.url, ca }, { ...io, signal })
  const client = { id: login.clientId, secret: login.clientSecret }
  const issuer = await discover(connection, login.issuer)
  const form = { grant_type: 'refresh_token', refresh_token: login.refreshToken }
  const response = await issuer.post('token', client, form)
  if (response.status === 400 && parseJson(response).error === 'invalid_grant') {
    removeLogin(io.env, login)
    throw loginEnded(login)
  }
  const tokens = toTokens(client, response, 'refresh the login')
  // A server without rotation of refresh tokens omits the refresh token.
  const next = { ...login, ...tokens, refreshToken: tokens.refreshToken || login.refreshToken }
  writeLogin(io.env, next)
  return next
}

/** Reports whether the access token is valid. If the clock was set back since, that is unknown. */
function isFresh({ issuedAtMs, expiresAtMs }: StoredLogin): boolean {
  const nowMs = Date.now()
  return expiresAtMs - nowMs > earlyMs && issuedAtMs - nowMs < earlyMs
}

/** Returns the error for a login that has ended, at the server or on this machine. */
export function loginEnded(key: LoginKey): Error {
  return new Error(`the login at ${key.url} has ended: run \`${loginCommand(key)}\``)
}

function notLoggedIn(url: string, name: string | undefined, io: Io): Error {
  const isDelegated = io.env.KAPIS_TOKEN && tokenFromEnvironment(io, url) === undefined
  const hint = isDelegated ? ' (KAPIS_TOKEN is only used for KAPIS_URL)' : ''
  const command =
    name === undefined ? commandLine('kapis', 'login', '--server', url) : loginCommand({ url, name })
  return new Error(`not logged in at ${url}${hint}: run \`${command}\``)
}
