import { orUndefined } from '../../apierrors/status.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { Reflector } from '../../kubeclient/watch/reflector.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { type AccessRequest, accessRequestsPath, toAccessRequest } from './access-request.ts'

export type AccessRequestStoreOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly logger: Logger
}

/** Groups and extra values from approved requests; the same object until they change. */
export type GrantedAccess = {
  readonly groups: readonly string[]
  /** Names of the requests as an extra value, which is the reason in the audit log. */
  readonly extra: Readonly<Record<string, readonly string[]>>
}

export const noAccess: GrantedAccess = { groups: [], extra: {} }

type CachedGrants = { readonly uid: string; readonly untilMs: number; readonly access: GrantedAccess }

// Ended requests are kept for a week as a record; the audit log is the permanent record.
const keptMs = 7 * 86_400_000
const collectMs = 3_600_000

/** Watches requests of users for groups. An approved one counts until it expires. */
export class AccessRequestStore {
  readonly #options: AccessRequestStoreOptions
  readonly #requests = new Map<string, Map<string, AccessRequest>>()
  /** Results of `accessOf` by user name, until a request of the user changes or expires. */
  readonly #known = new Map<string, CachedGrants>()
  readonly #reflector: Reflector
  #timer: NodeJS.Timeout | undefined

  constructor(options: AccessRequestStoreOptions) {
    this.#options = options
    let isWarned = false
    this.#reflector = new Reflector({
      client: options.client,
      path: accessRequestsPath(options.groupDomain),
      handler: {
        replace: items => {
          this.#requests.clear()
          this.#known.clear()
          for (const item of items) this.#put(toAccessRequest(item))
        },
        apply: events => {
          for (const { type, object } of events) {
            if (type === 'BOOKMARK') continue
            const request = toAccessRequest(object)
            if (type === 'DELETED') this.#remove(request)
            else this.#put(request)
          }
        },
        connected: isConnected => {
          if (isConnected) isWarned = false
        },
        // Logged once: without the CustomResourceDefinition every attempt fails.
        failed: err => {
          if (!isWarned) options.logger.warn({ err }, 'failed to watch access requests, retrying')
          isWarned = true
        },
      },
    })
  }

  start(): Promise<void> {
    const collect = () =>
      this.collect().catch(err => this.#options.logger.warn({ err }, 'failed to delete old access requests'))
    this.#timer = setInterval(collect, collectMs).unref()
    return this.#reflector.start()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#reflector.stop()
  }

  /** Returns the groups that approved requests currently grant to a user. */
  accessOf(user: { readonly name: string; readonly uid: string }, nowMs = Date.now()): GrantedAccess {
    const requests = this.#requests.get(user.name)
    if (requests === undefined) return noAccess
    const known = this.#known.get(user.name)
    if (known?.uid === user.uid && nowMs < known.untilMs) return known.access
    const active = [...requests.values()].filter(
      ({ userUid, isApproved, expiresAtMs }) => userUid === user.uid && isApproved && nowMs < expiresAtMs,
    )
    const access =
      active.length === 0 ? noAccess : toGiven(active, `iam.${this.#options.groupDomain}/access-request`)
    const untilMs = Math.min(...active.map(({ expiresAtMs }) => expiresAtMs))
    this.#known.set(user.name, { uid: user.uid, untilMs, access })
    return access
  }

  /** Deletes requests that ended a week ago, but none that replaced them meanwhile. */
  async collect(nowMs = Date.now()): Promise<void> {
    const { client, groupDomain } = this.#options
    const all = [...this.#requests.values()].flatMap(requests => [...requests.values()])
    for (const { name, uid, expiresAtMs } of all) {
      if (nowMs < expiresAtMs + keptMs) continue
      const path = `${accessRequestsPath(groupDomain)}/${encodeURIComponent(name)}`
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } }
      await orUndefined(client.call({ method: 'DELETE', path, body }), 404, 409)
    }
  }

  #put(request: AccessRequest): void {
    const requests = this.#requests.get(request.user) ?? new Map<string, AccessRequest>()
    this.#requests.set(request.user, requests.set(request.name, request))
    this.#known.delete(request.user)
  }

  #remove({ user, name }: AccessRequest): void {
    const requests = this.#requests.get(user)
    requests?.delete(name)
    if (requests?.size === 0) this.#requests.delete(user)
    this.#known.delete(user)
  }
}

function toGiven(active: readonly AccessRequest[], key: string): GrantedAccess {
  return {
    groups: [...new Set(active.map(({ group }) => group))],
    extra: { [key]: active.map(({ name }) => name) },
  }
}
