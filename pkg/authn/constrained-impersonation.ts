import { isStatus, type Status } from '../apierrors/status.ts'
import { type Identity, splitServiceAccount } from '../apirequest/identity/identity.ts'
import { type RequestInfo, toResourceInfo } from '../apirequest/request-info.ts'
import { forbidden } from '../authz/forbidden.ts'

/** Asserts that a caller has a permission to impersonate. @throws Status 403, 503 */
export type MayImpersonate = (info: RequestInfo, caller: Identity) => Promise<void> | void

/** The identity that the headers of a request claim. */
export type ClaimedIdentity = Pick<Identity, 'username' | 'uid' | 'groups' | 'extra'>

type Mode = 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info'

type Attempt = {
  readonly claimed: ClaimedIdentity
  readonly caller: Identity
  /** The attributes to authorize the request with. */
  readonly request: RequestInfo
  readonly may: MayImpersonate
}

const authentication = 'authentication.k8s.io'
const nodeNameKey = 'authentication.kubernetes.io/node-name'
const associatedKeys = 'authentication.kubernetes.io/associated-node-keys'
const nodesGroup = 'system:nodes'
const mastersGroup = 'system:masters'
// With at least this many checks of one kind, a check for all names (`*`) is tried first.
const manyChecks = 4

const nodePrefix = 'system:node:'
const dnsSubdomain = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

/** Returns the node with this user name; undefined for any other name. */
export function nodeOf(username: string): string | undefined {
  const name = username.startsWith(nodePrefix) ? username.slice(nodePrefix.length) : ''
  return dnsSubdomain.test(name) ? name : undefined
}

/**
 * Authorizes constrained impersonation (KEP-5284). The caller needs `impersonate-on:<mode>:<verb>`
 * on the requested resource, and `impersonate:<mode>` on every part of the identity, in the group
 * authentication.k8s.io. Modes are tried in the order of kube-apiserver 1.36.
 *
 * @returns the groups that the mode adds; undefined if no mode applies to the identity
 * @throws Status 403 of the first applicable mode if no mode allows it; 503
 */
export async function impersonateConstrained(attempt: Attempt): Promise<readonly string[] | undefined> {
  let rejection: Status | undefined
  for (const mode of modesOf(attempt)) {
    try {
      await checkMode(mode, mode === 'associated-node' ? withoutExtra(attempt) : attempt)
      const { username, groups } = attempt.claimed
      return nodeOf(username) === undefined ? groups : [nodesGroup]
    } catch (error) {
      if (!isForbidden(error)) throw error
      rejection ??= error
    }
  }
  if (rejection !== undefined) throw rejection
  return undefined
}

/** Reports whether an error is a 403, and not a failed check. */
export function isForbidden(error: unknown): error is Status {
  return isStatus(error, 403)
}

function modesOf({ claimed, caller }: Attempt): readonly Mode[] {
  const { username, uid, groups, extra } = claimed
  const isNameAlone = uid === '' && groups.length === 0 && Object.keys(extra).length === 0
  const node = nodeOf(username)
  if (node !== undefined) {
    if (!isNameAlone) return []
    const own = caller.extra[nodeNameKey] ?? []
    const isAssociated =
      splitServiceAccount(caller.username) !== undefined && own.length === 1 && own[0] === node
    return isAssociated ? ['associated-node', 'arbitrary-node'] : ['arbitrary-node']
  }
  if (splitServiceAccount(username) === undefined) return ['user-info']
  return isNameAlone ? ['serviceaccount'] : []
}

/**
 * Omits the values of extra fields for a service account that impersonates its own node: only their
 * keys are authorized, which are the same on all nodes.
 */
function withoutExtra(attempt: Attempt): Attempt {
  const { caller } = attempt
  return { ...attempt, caller: { ...caller, extra: { [associatedKeys]: Object.keys(caller.extra).sort() } } }
}

async function checkMode(mode: Mode, attempt: Attempt): Promise<void> {
  const { claimed, caller, request, may } = attempt
  await may({ ...request, verb: `impersonate-on:${mode}:${request.verb}` }, caller)
  const part = (target: { resource: string; namespace?: string; name?: string; subresource?: string }) =>
    toResourceInfo({ group: authentication, version: 'v1', verb: `impersonate:${mode}`, ...target })
  const check = (target: Parameters<typeof part>[0]) => may(part(target), caller)
  const { username, uid, groups, extra } = claimed

  const node = nodeOf(username)
  const account = splitServiceAccount(username)
  if (node !== undefined) await check({ resource: 'nodes', name: mode === 'associated-node' ? '*' : node })
  else if (account !== undefined) await check({ resource: 'serviceaccounts', ...account })
  else await check({ resource: 'users', name: username })

  if (uid !== '') await check({ resource: 'uids', name: uid })

  if (groups.includes(mastersGroup)) {
    const why = `impersonating the ${mastersGroup} group is not allowed`
    throw forbidden(part({ resource: 'groups', name: mastersGroup }), caller, why)
  }
  const allGroups = { resource: 'groups', name: '*' }
  if (groups.length < manyChecks || !(await isAllowed(() => check(allGroups))))
    for (const name of groups) await check({ resource: 'groups', name })

  const problem = extraProblem(extra)
  if (problem !== undefined) throw forbidden(part({ resource: 'userextras' }), caller, problem)
  const allExtra = { resource: 'userextras', subresource: '*', name: '*' }
  const pairs = Object.entries(extra).flatMap(([key, values]) => values.map(value => [key, value] as const))
  if (pairs.length < manyChecks || !(await isAllowed(() => check(allExtra))))
    for (const [subresource, name] of pairs) await check({ resource: 'userextras', subresource, name })
}

async function isAllowed(check: () => Promise<void> | void): Promise<boolean> {
  try {
    await check()
    return true
  } catch (error) {
    if (isForbidden(error)) return false
    throw error
  }
}

// The syntax of IsDomainPrefixedPath in k8s.io/apimachinery.
const httpPath = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/

function extraProblem(extra: ClaimedIdentity['extra']): string | undefined {
  for (const [key, values] of Object.entries(extra)) {
    const slash = key.indexOf('/')
    const isPath = dnsSubdomain.test(key.slice(0, slash)) && httpPath.test(key.slice(slash + 1))
    if (slash < 0 || !isPath)
      return `impersonating an invalid key in extra is not allowed: extra.key: Invalid value: ${JSON.stringify(key)}: must be a domain-prefixed path (such as "acme.io/foo")`
    if (key !== key.toLowerCase())
      return `impersonating a non-lowercase key in extra is not allowed: ${JSON.stringify(key)}`
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed'
  }
  return undefined
}
