import { setTimeout as sleep } from 'node:timers/promises'
import type { Io } from '../command.ts'
import { type HttpResponse, parseJson, toError } from './http.ts'
import type { Client, Issuer } from './issuer.ts'
import { printable } from './printable.ts'
import { type Tokens, toTokens } from './token-response.ts'

const grantType = 'urn:ietf:params:oauth:grant-type:device_code'
// Maximum polling interval in seconds that a server may request.
const maxIntervalS = 60
const maxLifeS = 1800

/** Logs in with a device code (RFC 8628), which the user enters in a browser on any machine. */
export async function deviceLogin(issuer: Issuer, client: Client, io: Io): Promise<Tokens> {
  const begun = await issuer.post('device_authorization', client, { scope: 'openid' })
  const { device_code: code, user_code: userCode, verification_uri: uri, ...rest } = parseJson(begun)
  if (begun.status !== 200 || typeof code !== 'string' || typeof userCode !== 'string')
    throw toError(begun, 'begin the login')
  const { verification_uri_complete: complete, interval, expires_in: expiresIn } = rest
  io.err(`Open ${issuer.page(uri)} in a browser and enter the code ${printable(userCode)}\n`)
  if (complete !== undefined) io.err(`or open directly: ${issuer.page(complete)}\n`)
  let seconds = Math.min(typeof interval === 'number' ? interval : 5, maxIntervalS)
  const lifeS = Math.min(typeof expiresIn === 'number' ? expiresIn : 600, maxLifeS)
  const deadline = Date.now() + lifeS * 1000
  while (Date.now() < deadline) {
    await sleep(seconds * 1000, undefined, { signal: io.signal })
    const response = await poll(issuer, client, code, io)
    if (response === undefined) {
      seconds = Math.min(seconds * 2, maxIntervalS)
      continue
    }
    const { error } = parseJson(response)
    // RFC 8628 section 3.5: each slow_down adds five seconds to all later intervals.
    if (error === 'slow_down') seconds += 5
    else if (error !== 'authorization_pending') return toTokens(client, response, 'log in')
  }
  throw new Error('timed out waiting for the code to be entered')
}

/**
 * Requests the tokens. Returns undefined if the server is unreachable or overloaded for a moment, as
 * during its restart: the client must then poll less often (RFC 8628 section 3.5).
 */
async function poll(issuer: Issuer, client: Client, code: string, io: Io): Promise<HttpResponse | undefined> {
  try {
    const response = await issuer.post('token', client, { grant_type: grantType, device_code: code })
    return response.status >= 500 || response.status === 429 ? undefined : response
  } catch (error) {
    if (io.signal.aborted) throw error
    return undefined
  }
}
