import type { KubeClient } from '../../kubeclient/client.ts'
import { isRecord, type KubeObject, parseList, parseObject } from '../../kubeclient/object/object.ts'
import { isLater } from '../../kubeclient/object/resource-version.ts'
import {
  type LoginRecord,
  loginRecordsPath,
  recordNames,
  toLoginRecord,
  toNetworkLabel,
} from '../loginrecords/login-record.ts'
import type { User } from '../users/user.ts'

export type FailedLoginCounterOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  /** ID of this process (see login-record.ts). */
  readonly writer: string
  /** Length of the window in seconds; older failures do not count. */
  readonly windowSeconds: number
}

/** Numbers of failures under the name as entered, and from the address. */
export type FailureCount = { readonly ofName: number; readonly ofAddress: number }

export type FailedLoginCounter = {
  /** Stores a failure. @returns the number of failures including this one @throws Status 503 */
  readonly record: (failure: LoginRecord, user: User | undefined) => Promise<FailureCount>
  /** Returns the number of failures of a user, for all login names. @throws Status 503 */
  readonly countOf: (user: User) => Promise<number>
  /** Returns the number of failures from an address. @throws Status 503 */
  readonly countFrom: (address: string) => Promise<number>
}

/**
 * Counts failed logins over all replicas. Each failure is an object in kube-apiserver, and resource
 * versions order them. All replicas therefore agree which failures of a burst came first, and after
 * the allowed number none reveals whether a password was correct.
 */
export function createFailedLoginCounter(options: FailedLoginCounterOptions): FailedLoginCounter {
  const { client, groupDomain, writer, windowSeconds } = options
  const path = loginRecordsPath(groupDomain)
  const names = recordNames(groupDomain)

  async function list(label: string, value: string): Promise<readonly KubeObject[]> {
    const query = new URLSearchParams({
      labelSelector: `${label}=${value}`,
      fieldSelector: 'spec.success=false',
    })
    return parseList(await client.call({ path: `${path}?${query}` })).items ?? []
  }

  /** @param nowMs the time of kube-apiserver, whose clock also set the times of the records */
  function countSince(failures: readonly KubeObject[], user: User | undefined, nowMs: number): number {
    // When an administrator has unlocked the user, which resets the count.
    const forgivenMs = user?.state === 'Active' ? user.stateSinceMs : 0
    const sinceMs = Math.max(nowMs - windowSeconds * 1000, forgivenMs)
    return failures.filter(({ metadata }) => Date.parse(metadata.creationTimestamp) > sinceMs).length
  }

  return {
    async record(failure, user) {
      const body = toLoginRecord(failure, groupDomain, writer)
      const { metadata } = parseObject(await client.call({ method: 'POST', path, body }))
      const [ofName, ofAddress] = await Promise.all([
        list(names.login, failure.loginRef),
        list(names.address, toNetworkLabel(failure.source.address)),
      ])
      const isUntilThis = (each: KubeObject) =>
        !isLater(each.metadata.resourceVersion, metadata.resourceVersion)
      const nowMs = Date.parse(metadata.creationTimestamp)
      return {
        ofName: countSince(ofName.filter(isUntilThis), user, nowMs),
        ofAddress: countSince(ofAddress.filter(isUntilThis), undefined, nowMs),
      }
    },
    async countOf(user) {
      const failures = await list(names.user, user.name)
      return countSince(failures.filter(isOfOurs), user, Date.now())
    },
    countFrom: async address =>
      countSince(await list(names.address, toNetworkLabel(address)), undefined, Date.now()),
  }
}

/** Reports whether a failure concerns a local password, and so may lock it. */
function isOfOurs({ spec }: KubeObject): boolean {
  return !isRecord(spec) || spec.provider === undefined || spec.provider === ''
}
