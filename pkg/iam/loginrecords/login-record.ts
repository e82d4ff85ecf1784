import { isIP } from 'node:net'
import { sourceNetwork } from '../../httpserver/request/client-address.ts'
import { isRecord, type KubeObject } from '../../kubeclient/object/object.ts'
import type { ClientInfo } from '../sessions/client-info.ts'
import { iamVersion, type User } from '../users/user.ts'

/** A login attempt: a `LoginRecord` of iam.<group domain>/v1alpha2. */
export type LoginRecord = {
  /** The user; undefined for an unknown name. */
  readonly user: Pick<User, 'name' | 'uid'> | undefined
  /** HMAC of the entered name (see login-keys.ts); '' for a login without a name. */
  readonly loginRef: string
  readonly type: 'Password' | 'OAuth' | 'Token'
  /** The identity provider; '' for a local password. */
  readonly provider: string
  readonly source: ClientInfo
  readonly success: boolean
  readonly reason: string
}

/** A failure that the watch has delivered. */
export type ReceivedFailure = {
  /** The user name; '' if a provider has checked the password: the failure does not count. */
  readonly user: string
  readonly loginRef: string
  readonly address: string
  readonly atMs: number
}

export function loginRecordsPath(groupDomain: string): string {
  return `/apis/iam.${groupDomain}/${iamVersion}/loginrecords`
}

/** Returns the names of labels and annotations. */
export function recordNames(groupDomain: string) {
  const prefix = `iam.${groupDomain}`
  return {
    user: `${prefix}/user-ref`,
    login: `${prefix}/login-ref`,
    address: `${prefix}/source-network`,
    /** The process that wrote the record, and has already counted it. */
    writer: `${prefix}/recorded-by`,
  }
}

// Kubernetes limits label values to 63 characters.
const maxLabel = 63

/** Returns the source address or network as a label value: 192.0.2.1, 2001-db8-0-0---64. */
export function toNetworkLabel(address: string): string {
  return sourceNetwork(address).replace(/[:/]/g, '-')
}

/** @param writer ID of this process */
export function toLoginRecord(record: LoginRecord, groupDomain: string, writer: string): object {
  const { user, loginRef, type, provider, source, success, reason } = record
  const names = recordNames(groupDomain)
  const isLabel = user !== undefined && user.name.length <= maxLabel
  return {
    apiVersion: `iam.${groupDomain}/${iamVersion}`,
    kind: 'LoginRecord',
    metadata: {
      generateName: isLabel ? `${user.name}-` : 'unknown-',
      labels: {
        ...(isLabel ? { [names.user]: user.name } : {}),
        ...(loginRef === '' ? {} : { [names.login]: loginRef }),
        ...(isIP(source.address) === 0 ? {} : { [names.address]: toNetworkLabel(source.address) }),
      },
      annotations: { [names.writer]: writer },
      // kube-apiserver garbage-collects the records of a deleted user.
      ...(user === undefined ? {} : { ownerReferences: [toOwner(user, groupDomain)] }),
    },
    spec: { type, provider, sourceIP: source.address, userAgent: source.userAgent, success, reason },
  }
}

/** Converts the record of a failed login, which any replica may have written. */
export function toSeenFailure({ metadata, spec }: KubeObject, groupDomain: string): ReceivedFailure {
  const names = recordNames(groupDomain)
  const { sourceIP: address, provider } = isRecord(spec) ? spec : {}
  return {
    user: provider === undefined || provider === '' ? (metadata.labels?.[names.user] ?? '') : '',
    loginRef: metadata.labels?.[names.login] ?? '',
    address: typeof address === 'string' ? address : '',
    atMs: Date.parse(metadata.creationTimestamp) || 0,
  }
}

function toOwner({ name, uid }: Pick<User, 'name' | 'uid'>, groupDomain: string): object {
  return { apiVersion: `iam.${groupDomain}/${iamVersion}`, kind: 'User', name, uid }
}
