import { Status } from '../../apierrors/status.ts'
import type { AuthenticationMethods } from '../../jwt/authentication-methods.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { isRecord, type KubeObject, parseList, parseObject } from '../../kubeclient/object/object.ts'
import { iamVersion } from '../users/user.ts'

/** A pending device login (RFC 8628): a `DeviceAuthorization` of iam.<group domain>/v1alpha2. */
export type DeviceAuthorization = {
  readonly name: string
  readonly resourceVersion: string
  readonly clientId: string
  readonly scope: string
  readonly expiresAtMs: number
  /** '' before the decision. An approval sets the following fields. */
  readonly decision: '' | 'Approved' | 'Denied'
  readonly user: string
  readonly userUid: string
  readonly provider: string
  /** When the user logged in, in seconds since the epoch. */
  readonly authTime: number
  readonly amr: AuthenticationMethods
  readonly browserSid: string
  /** The sid of the login that the device will get. */
  readonly sid: string
}

export type DeviceStore = {
  /** @throws Status 409 if a device with this name exists */
  readonly create: (
    device: Pick<DeviceAuthorization, 'name' | 'clientId' | 'scope' | 'expiresAtMs'>,
  ) => Promise<void>
  /**
   * Reads the current state from kube-apiserver, so that any replica may have created it. Undefined
   * if it does not exist or has expired.
   */
  readonly read: (name: string) => Promise<DeviceAuthorization | undefined>
  /** @returns false if the object was changed or deleted since it was read */
  readonly update: (device: DeviceAuthorization) => Promise<boolean>
  readonly remove: (name: string) => Promise<void>
  /** Deletes expired objects. Safe to run on every replica. */
  readonly collect: () => Promise<void>
}

/** Stores device logins in kube-apiserver, since device and browser may use different replicas. */
export function createDeviceStore({
  client,
  groupDomain,
}: {
  client: KubeClient
  groupDomain: string
}): DeviceStore {
  const collection = `/apis/iam.${groupDomain}/${iamVersion}/deviceauthorizations`
  const pathOf = (name: string) => `${collection}/${encodeURIComponent(name)}`
  const toBody = (name: string, resourceVersion: string, spec: object) => ({
    apiVersion: `iam.${groupDomain}/${iamVersion}`,
    kind: 'DeviceAuthorization',
    metadata: { name, ...(resourceVersion === '' ? {} : { resourceVersion }) },
    spec,
  })

  async function remove(name: string): Promise<void> {
    await client.call({ method: 'DELETE', path: pathOf(name) }).catch(orCodes(404))
  }

  return {
    remove,
    async create({ name, expiresAtMs, ...rest }) {
      const spec = { ...rest, expiresAt: new Date(expiresAtMs).toISOString() }
      await client.call({ method: 'POST', path: collection, body: toBody(name, '', spec) })
    },
    async read(name) {
      const response = await client.call({ path: pathOf(name) }).catch(orCodes(404))
      const device = response === undefined ? undefined : toDevice(parseObject(response))
      return device === undefined || device.expiresAtMs < Date.now() ? undefined : device
    },
    async update({ name, resourceVersion, expiresAtMs, ...rest }) {
      const spec = { ...rest, expiresAt: new Date(expiresAtMs).toISOString() }
      const call = { method: 'PUT', path: pathOf(name), body: toBody(name, resourceVersion, spec) } as const
      return (await client.call(call).catch(orCodes(404, 409))) !== undefined
    },
    async collect() {
      const { items } = parseList(await client.call({ path: collection }))
      for (const { name, expiresAtMs } of (items ?? []).map(toDevice))
        if (expiresAtMs < Date.now()) await remove(name)
    },
  }
}

function orCodes(...codes: readonly number[]): (error: unknown) => undefined {
  return error => {
    if (error instanceof Status && codes.includes(error.code)) return undefined
    throw error
  }
}

function toDevice({ metadata, spec }: KubeObject): DeviceAuthorization {
  const stored = isRecord(spec) ? spec : {}
  const text = (key: string) => (typeof stored[key] === 'string' ? stored[key] : '')
  const decision = text('decision')
  return {
    name: metadata.name,
    resourceVersion: metadata.resourceVersion,
    clientId: text('clientId'),
    scope: text('scope'),
    expiresAtMs: Date.parse(text('expiresAt')) || 0,
    decision: decision === 'Approved' || decision === 'Denied' ? decision : '',
    user: text('user'),
    userUid: text('userUid'),
    provider: text('provider'),
    authTime: typeof stored.authTime === 'number' ? stored.authTime : 0,
    amr: text('amr'),
    browserSid: text('browserSid'),
    sid: text('sid'),
  }
}
