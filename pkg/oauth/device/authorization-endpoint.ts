import type { RequestHandler } from 'express'
import { sourceNetwork } from '../../httpserver/request/client-address.ts'
import { createLockout, type LockoutKey, secondsUntil } from '../../iam/lockout/lockout.ts'
import { retryOnConflict } from '../../kubeclient/retry.ts'
import type { EndpointOptions } from '../endpoints/dependencies.ts'
import { deviceCodeGrantType } from '../grants/device-code.ts'
import { clientInfoOf } from '../server/client-info.ts'
import { endpointBase } from '../server/endpoint-base.ts'
import { oauthError } from '../server/error.ts'
import { readForm } from '../server/form.ts'
import { withAudit } from '../server/with-audit.ts'
import { grantScope } from '../tokens/scope.ts'
import { assertResources } from '../tokens/validate-resource-indicators.ts'
import { pollIntervalSeconds } from './poll-rate-limit.ts'
import { newUserCode, toDeviceName } from './user-code.ts'

const lifeSeconds = 600
// Each device is an object in kube-apiserver until it expires, and public clients can create
// devices without authentication.
const perAddress = { maxTries: 60, durationSeconds: lifeSeconds }

/** POST /oauth/device_authorization (RFC 8628 section 3.1): starts the login of a device. */
export function createDeviceAuthorization({
  issuer,
  authenticateClient,
  tools,
  audit,
}: EndpointOptions): RequestHandler {
  const base = endpointBase(issuer)
  const lockout = createLockout({ rules: { user: perAddress, address: perAddress } })

  async function limit(key: LockoutKey): Promise<void> {
    const attempt = await lockout.begin([key])
    if (typeof attempt !== 'number') return void attempt.failed()
    throw oauthError(429, 'slow_down', 'too many devices from this address', {
      headers: { 'retry-after': String(secondsUntil(attempt)) },
      why: 'too_many_devices',
    })
  }

  /** @returns a new user code; retries if the code is already in use */
  async function create(clientId: string, scope: string): Promise<string> {
    return retryOnConflict(async () => {
      const userCode = newUserCode()
      const expiresAtMs = Date.now() + lifeSeconds * 1000
      await tools.devices.create({ name: toDeviceName(userCode), clientId, scope, expiresAtMs })
      return userCode
    })
  }

  return withAudit(audit, 'device', async (req, res, event) => {
    const form = readForm(req)
    const client = await authenticateClient(req, form)
    event.client = client.name
    if (!client.grantTypes.includes(deviceCodeGrantType) || client.grantMethod === 'deny')
      throw oauthError(400, 'unauthorized_client', 'the client may not use this grant type')
    assertResources(form)
    const scope = grantScope(form.get('scope'), client)
    await limit(`address:${sourceNetwork(clientInfoOf(req).address)}`)
    const userCode = await create(client.name, scope)
    // The device code is valid longer than its DeviceAuthorization, so that the token endpoint can
    // distinguish an expired code from an unknown one.
    const claims = { client_id: client.name, scope_asked: Number(form.has('scope')) }
    const options = { lifeSeconds: 2 * lifeSeconds, jti: toDeviceName(userCode) }
    const deviceCode = await tools.internalJwts.sign('device', claims, options)
    res.set({ 'cache-control': 'no-store', pragma: 'no-cache' }).json({
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: `${base}/device`,
      verification_uri_complete: `${base}/device?user_code=${userCode}`,
      expires_in: lifeSeconds,
      interval: pollIntervalSeconds,
    })
  })
}
