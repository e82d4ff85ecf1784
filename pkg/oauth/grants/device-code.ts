import { isStatus } from '../../apierrors/status.ts'
import type { DeviceAuthorization } from '../../iam/sessions/device-authorization.ts'
import { assertUserEnabled } from '../check-user-state.ts'
import { beginLogin } from '../login.ts'
import { invalidGrant, oauthError } from '../server/error.ts'
import { requireParameter } from '../server/form.ts'
import type { Grant, GrantOutcome, GrantRequest, GrantTools } from '../tokens/grant.ts'

export const deviceCodeGrantType = 'urn:ietf:params:oauth:grant-type:device_code'

/** The device code grant (RFC 8628 section 3.4): the device polls until the user has decided. */
export const deviceCodeGrant: Grant = {
  grantType: deviceCodeGrantType,
  async handle(tools, request) {
    const { client, form } = request
    const claims = await tools.internalJwts.verify('device', requireParameter(form, 'device_code'))
    if (claims === undefined) throw invalidGrant('the device code is invalid', { why: 'invalid_device_code' })
    if (claims.client_id !== client.name)
      throw invalidGrant('the device code was issued to another client', { why: 'wrong_client' })
    if (!tools.isPollInTime(claims.jti)) throw oauthError(400, 'slow_down', '')
    const device = await tools.devices.read(claims.jti)
    if (device === undefined || device.clientId !== client.name)
      throw oauthError(400, 'expired_token', 'the device code has expired or was used')
    if (device.decision === '') throw oauthError(400, 'authorization_pending', '')
    try {
      return await redeem(tools, request, { ...device, isScopeAsked: claims.scope_asked === 1 })
    } finally {
      // If the deletion fails, the device allows no second login, and is garbage-collected.
      await tools.devices.remove(device.name).catch(() => undefined)
    }
  },
}

type AskedDevice = DeviceAuthorization & { readonly isScopeAsked: boolean }

function redeem(tools: GrantTools, request: GrantRequest, device: AskedDevice): Promise<GrantOutcome> {
  if (device.decision === 'Approved') return exchange(tools, request, device)
  throw oauthError(400, 'access_denied', 'the user denied access', {
    why: 'device_refused',
    user: device.user,
  })
}

async function exchange(
  tools: GrantTools,
  { client, source }: GrantRequest,
  device: AskedDevice,
): Promise<GrantOutcome> {
  const user = tools.users.get(device.user)
  if (user === undefined || user.uid !== device.userUid)
    throw invalidGrant('authenticated user does not exist', { why: 'unknown_user' })
  assertUserEnabled(user)
  if (tools.sessions.isRevoked(device.browserSid, device.authTime))
    throw invalidGrant('the login has ended', { why: 'login_ended', user: user.name })
  const { provider, sid, authTime, amr } = device
  const scope = { granted: device.scope, isAsked: device.isScopeAsked }
  try {
    const browser = { nonce: '', authTime }
    return await beginLogin(tools, { user, client, provider, amr, source, scope, sid, browser })
  } catch (error) {
    // A concurrent poll has started the login.
    if (isStatus(error, 409))
      throw invalidGrant('the device code was used before', { why: 'device_code_reused', user: user.name })
    throw error
  }
}
