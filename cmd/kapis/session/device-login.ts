import { setTimeout as sleep } from 'node:timers/promises'
import type { Io } from '../command.ts'
import { parseJson, toError } from './http.ts'
import { type Client, type Issuer, toLogin } from './issuer.ts'
import type { StoredLogin } from './login-store.ts'

const grantType = 'urn:ietf:params:oauth:grant-type:device_code'

/** RFC 8628: the user types a short code into a browser anywhere, and this asks until he has. */
export async function deviceLogin(issuer: Issuer, client: Client, io: Io): Promise<StoredLogin> {
  const begun = await issuer.post('device_authorization', client, { scope: 'openid' })
  const { device_code: code, user_code: userCode, verification_uri: uri, ...rest } = parseJson(begun)
  if (begun.code !== 200 || typeof code !== 'string') throw toError(begun, 'cannot begin the login')
  const { verification_uri_complete: complete, interval, expires_in: expiresIn } = rest
  io.err(`Open ${uri} in a browser and type in the code ${userCode}\n`)
  if (typeof complete === 'string') io.err(`or open ${complete}\n`)
  let seconds = typeof interval === 'number' ? interval : 5
  const deadline = Date.now() + (typeof expiresIn === 'number' ? expiresIn : 600) * 1000
  while (Date.now() < deadline) {
    await sleep(seconds * 1000, undefined, { signal: io.signal })
    const answer = await issuer.post('token', client, { grant_type: grantType, device_code: code })
    const { error } = parseJson(answer)
    // Section 3.5: each slow_down adds five seconds for good.
    if (error === 'slow_down') seconds += 5
    else if (error !== 'authorization_pending') return toLogin(issuer.server, client, answer, 'cannot log in')
  }
  throw new Error('nobody has typed in the code in time')
}
