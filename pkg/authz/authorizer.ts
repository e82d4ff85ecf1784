import { hash } from 'node:crypto'
import { hasNoCredential, type Identity, isSuperuser } from '../apirequest/identity/identity.ts'
import type { RequestInfo } from '../apirequest/request-info.ts'
import { createBoundedCache } from '../cache/bounded-cache.ts'
import { createSingleFlight } from '../cache/single-flight.ts'
import type { KubeClient } from '../kubeclient/client.ts'
import { authorizationExtra } from './authorization-extra.ts'
import { forbiddenFor } from './forbidden.ts'
import type { NarrowingRole } from './narrowing/narrowing-role.ts'
import type { RbacCheck } from './review/rbac-check.ts'
import { type Decision, reviewAccess } from './subject-access-review.ts'
import { assertInScope } from './token-scope.ts'

export type AuthorizerOptions = {
  readonly client: KubeClient
  /** The group of the extension API, where anonymous callers get kube-apiserver's error. */
  readonly group: string
  /** Returns why RBAC denies a request, for callers who may read RBAC; '' for other callers. */
  readonly explain?: ExplainDenial
  /** Recognizes requests that only the narrowing role allows; returns the permission instead. */
  readonly narrowingRole?: NarrowingRole
  /** Detects changes of roles and bindings, after which a cached decision may be wrong. */
  readonly rbac?: RbacCheck
  readonly observe: (decision: 'allowed' | 'denied' | 'error', source: 'rule' | 'cache' | 'review') => void
}

/** @param isAllowed reports whether the caller has another permission. @throws Status 503 */
export type ExplainDenial = (
  info: RequestInfo,
  identity: Identity,
  isAllowed: (permission: RequestInfo) => Promise<boolean>,
) => Promise<string>

/** @param narrow reports before a 403 whether the handler filters the list for the caller */
export type Authorize = (
  info: RequestInfo,
  identity: Identity,
  narrow?: NarrowList | undefined,
) => Promise<void> | void

/** A verb on an object; an empty name or namespace means any. */
export type ObjectPermission = {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name: string
}

/** Requires a permission. @throws Status 403 with the message of kube-apiserver, 503 */
export type RequirePermission = (identity: Identity, permission: ObjectPermission) => Promise<void>

/**
 * Narrows a denied list to namespaces.
 *
 * @param info the permission that is required in a namespace
 * @returns whether the caller has it in any
 */
export type NarrowList = (info: RequestInfo) => Promise<boolean>

/** A decision, and whether RBAC allowed the request at that generation. */
type CachedDecision = Decision & { readonly isGranted: boolean | undefined; generation: number }

const cacheMs = 10_000
// The authorizer of kube-apiserver may receive a change after this program.
const contestedMs = 1_000
const maxCacheBytes = 8 * 1024 * 1024
const allowedByRule: Decision = { isAllowed: true, reason: '' }

/**
 * Authorizes a request with a SubjectAccessReview. The decision is cached, unless a change of roles
 * or bindings affects it.
 *
 * @throws Status 403, 401 if the caller should log in first, 503 if kube-apiserver is not
 * responding
 */
export function createAuthorizer(options: AuthorizerOptions): Authorize {
  const { rbac } = options
  const decisions = createBoundedCache<CachedDecision>({
    maxBytes: maxCacheBytes,
    sizeOf: ({ reason }) => 2 * reason.length,
  })
  const share = createSingleFlight<Decision>()
  const identityKey = createIdentityKey()
  const requestKey = createRequestKey()

  function applyDecision(decision: Decision, ...request: Parameters<Authorize>): Promise<void> | void {
    const [info, identity, narrow] = request
    if (decision.isAllowed) {
      if (isSuperuser(identity)) return
      const deciding = options.narrowingRole?.decidedBy(info, identity, decision.reason)
      return deciding && authorize(deciding, identity, narrow)
    }
    if (narrow !== undefined) {
      const required = options.narrowingRole?.narrowedBy(info, identity) ?? info
      return narrow(required).then(isNarrowed =>
        isNarrowed ? undefined : applyDecision(decision, info, identity),
      )
    }
    const { group, explain } = options
    const { reason } = decision
    if (explain === undefined || hasNoCredential(identity))
      throw forbiddenFor(info, identity, { reason, group })
    return deny(explain, reason, info, identity)
  }

  async function deny(explain: ExplainDenial, reason: string, info: RequestInfo, identity: Identity) {
    const isAllowed = async (permission: RequestInfo) => (await decide(permission, identity)).isAllowed
    // If the explanation fails, the 403 is sent without one.
    const why = await explain(info, identity, isAllowed).catch(() => '')
    const reasons = [reason, why].filter(text => text !== '')
    throw forbiddenFor(info, identity, { reason: reasons.join('; '), group: options.group })
  }

  async function reviewUncached(key: string, info: RequestInfo, identity: Identity, isContested: boolean) {
    const generation = rbac?.generation() ?? 0
    const isGranted = rbac?.allows(info, identity)
    try {
      const work = () => reviewAccess(options.client, info, identity)
      const decision = await share(`${generation} ${key}`, work)
      options.observe(decision.isAllowed ? 'allowed' : 'denied', 'review')
      // Another authorizer may allow what RBAC does not, but this is rare.
      const isExpected = isGranted === decision.isAllowed || (!isContested && isGranted !== true)
      decisions.set(key, { ...decision, isGranted, generation }, isExpected ? cacheMs : contestedMs)
      return decision
    } catch (error) {
      options.observe('error', 'review')
      throw error
    }
  }

  function decide(info: RequestInfo, identity: Identity): Promise<Decision> | Decision {
    if (isSuperuser(identity)) {
      options.observe('allowed', 'rule')
      return allowedByRule
    }
    const key = `${identityKey(identity)} ${requestKey(info)}`
    const known = decisions.get(key)
    if (known === undefined) return reviewUncached(key, info, identity, false)
    if (rbac !== undefined && known.generation !== rbac.generation()) {
      if (rbac.allows(info, identity) !== known.isGranted) return reviewUncached(key, info, identity, true)
      known.generation = rbac.generation()
    }
    options.observe(known.isAllowed ? 'allowed' : 'denied', 'cache')
    return known
  }

  function authorize(...[info, identity, narrow]: Parameters<Authorize>): Promise<void> | void {
    const decision = decide(info, identity)
    if (!(decision instanceof Promise)) return applyDecision(decision, info, identity, narrow)
    return decision.then(decided => applyDecision(decided, info, identity, narrow))
  }

  return (info, identity, narrow) => {
    assertInScope(info, identity)
    return authorize(info, identity, narrow)
  }
}

/**
 * Returns a function that computes a short cache key of the caller. The key is cached, since each
 * request needs it and users may have hundreds of groups.
 */
export function createIdentityKey(): (identity: Identity) => string {
  const keys = new WeakMap<Identity, string>()
  return identity => {
    const known = keys.get(identity)
    if (known !== undefined) return known
    const { username, uid, groups } = identity
    const key = hash(
      'sha256',
      JSON.stringify([username, uid, groups, authorizationExtra(identity)]),
      'base64',
    )
    keys.set(identity, key)
    return key
  }
}

/** Returns a function that computes a cache key, once for a shared RequestInfo object. */
function createRequestKey(): (info: RequestInfo) => string {
  const keys = new WeakMap<RequestInfo, string>()
  return info => {
    let key = keys.get(info)
    if (key === undefined) {
      key = JSON.stringify(toAttributes(info))
      keys.set(info, key)
    }
    return key
  }
}

function toAttributes(info: RequestInfo): readonly string[] {
  if (!info.isResource) return [info.verb, info.path]
  const { verb, group, version, namespace, resource, subresource, name } = info
  const selectors = [info.fieldSelector.text, info.labelSelector.text]
  return [verb, group, version, namespace, resource, subresource, name, ...selectors]
}
