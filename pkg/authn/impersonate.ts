import type { IncomingMessage } from 'node:http'
import { badRequest } from '../apierrors/status.ts'
import {
  anonymous,
  type Identity,
  splitServiceAccount,
  withAuthenticatedGroup,
} from '../apirequest/identity/identity.ts'
import { decodeExtraKey, decodeHeaderText } from '../apirequest/identity/identity-header-encoding.ts'
import { identityProblem } from '../apirequest/identity/identity-problem.ts'
import { type RequestInfo, toResourceInfo } from '../apirequest/request-info.ts'
import {
  type ClaimedIdentity,
  impersonateConstrained,
  isForbidden,
  type MayImpersonate,
  nodeOf,
} from './constrained-impersonation.ts'

export type Impersonation = {
  readonly req: Pick<IncomingMessage, 'rawHeaders'>
  readonly caller: Identity
  readonly may: MayImpersonate
  /** Returns the attributes to authorize the request with. @throws Status 503 */
  readonly requestOf: () => Promise<RequestInfo> | RequestInfo
  /** Reports whether kube-apiserver supports constrained impersonation. */
  readonly isConstrained: () => Promise<boolean>
}

const claimPrefix = 'impersonate-'
const extraPrefix = 'impersonate-extra-'

/**
 * Returns the identity to impersonate; null if the request does not impersonate. The caller must be
 * authorized to impersonate every part of the identity, by the verb `impersonate` as in
 * kube-apiserver, or by constrained impersonation.
 *
 * @throws Status 400 for an identity that is invalid or has no user, 403 if the caller is not
 * authorized
 */
export function impersonate(options: Impersonation): Promise<Identity> | null {
  const claims = readClaims(options.req)
  return claims.length === 0 ? null : actAs(claims, options)
}

async function actAs(claims: readonly Claim[], options: Impersonation): Promise<Identity> {
  const one = (name: string) => claims.find(claim => claim.name === name)?.value ?? ''
  const username = one('impersonate-user')
  if (username === '') throw badRequest('Impersonate-User must be given with every other Impersonate- header')
  const uid = one('impersonate-uid')
  const groups = claims.filter(({ name }) => name === 'impersonate-group').map(({ value }) => value)
  const extra = new Map<string, string[]>()
  for (const { name, value } of claims) {
    if (!name.startsWith(extraPrefix)) continue
    const key = decodeExtraKey(name.slice(extraPrefix.length))
    if (key === undefined) throw badRequest(`the name of the header ${name} is not valid UTF-8`)
    const values = extra.get(key)
    if (values === undefined) extra.set(key, [value])
    else values.push(value)
  }
  const claimed = { username, uid, groups, extra: Object.fromEntries(extra) }
  const target = withAuthenticatedGroup({ ...claimed, groups: groupsOf(username, groups) })
  const problem = identityProblem(target)
  if (problem !== undefined) throw badRequest(`invalid impersonation headers: ${problem}`)

  const { caller, may } = options
  const legacy = async () => {
    for (const part of toTargets(claimed)) await may(toRequest(part), caller)
    return target
  }
  return nodeOf(username) === undefined
    ? legacyFirst(claimed, { ...options, target, legacy })
    : constrainedFirst(claimed, { ...options, target, legacy })
}

type Attempts = Impersonation & {
  readonly target: Identity
  /** Authorizes by the verb `impersonate`. @throws Status 403, 503 */
  readonly legacy: () => Promise<Identity>
}

/**
 * Tries the verb `impersonate` first, unlike kube-apiserver: most callers have it, and the
 * resulting identity is the same except for nodes.
 */
async function legacyFirst(claimed: ClaimedIdentity, options: Attempts): Promise<Identity> {
  try {
    return await options.legacy()
  } catch (error) {
    if (!isForbidden(error) || !(await options.isConstrained())) throw error
    if ((await constrained(claimed, options)) === undefined) throw error
    return options.target
  }
}

/** Tries constrained impersonation first, for nodes: it adds the group of nodes to the identity. */
async function constrainedFirst(claimed: ClaimedIdentity, options: Attempts): Promise<Identity> {
  if (!(await options.isConstrained())) return options.legacy()
  let rejection: unknown
  try {
    const groups = await constrained(claimed, options)
    if (groups !== undefined) return withAuthenticatedGroup({ ...claimed, groups })
  } catch (error) {
    if (!isForbidden(error)) throw error
    rejection = error
  }
  try {
    return await options.legacy()
  } catch (error) {
    throw isForbidden(error) ? (rejection ?? error) : error
  }
}

async function constrained(claimed: ClaimedIdentity, { caller, may, requestOf }: Attempts) {
  return impersonateConstrained({ claimed, caller, may, request: await requestOf() })
}

type Target = {
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
}

const authentication = 'authentication.k8s.io'

function toTargets({ username, uid, groups, extra }: ClaimedIdentity): readonly Target[] {
  const nowhere = { group: '', subresource: '', namespace: '' }
  const account = splitServiceAccount(username)
  return [
    account === undefined
      ? { ...nowhere, resource: 'users', name: username }
      : { ...nowhere, resource: 'serviceaccounts', ...account },
    ...groups.map(name => ({ ...nowhere, resource: 'groups', name })),
    ...(uid === '' ? [] : [{ ...nowhere, group: authentication, resource: 'uids', name: uid }]),
    ...Object.entries(extra).flatMap(([subresource, values]) =>
      values.map(name => ({ ...nowhere, group: authentication, resource: 'userextras', subresource, name })),
    ),
  ]
}

function toRequest(target: Target): RequestInfo {
  return toResourceInfo({ ...target, verb: 'impersonate' })
}

/** Returns the groups that a user name implies; groups of the request replace them. */
function groupsOf(username: string, groups: readonly string[]): readonly string[] {
  if (groups.length > 0) return groups
  const account = splitServiceAccount(username)
  if (account !== undefined) return ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`]
  return username === anonymous.username ? anonymous.groups : []
}

type Claim = { readonly name: string; readonly value: string }

const single: readonly string[] = ['impersonate-user', 'impersonate-uid']
// Nearly every request has no impersonation headers.
const none: readonly Claim[] = []

function readClaims({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): readonly Claim[] {
  if (!rawHeaders.some(isClaim)) return none
  const claims: Claim[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase()
    if (!name.startsWith(claimPrefix)) continue
    const isKnown = /^impersonate-(user|uid|group|extra-.+)$/.test(name)
    // An unknown header must not be ignored: the response would be for another identity than the
    // caller expects.
    if (!isKnown)
      throw badRequest(
        `unknown header ${name}; supported: Impersonate-User, Impersonate-Uid, Impersonate-Group and Impersonate-Extra-`,
      )
    const value = decodeHeaderText(rawHeaders[i + 1] ?? '')
    if (value === undefined) throw badRequest(`the header ${name} is not valid UTF-8`)
    claims.push({ name, value })
  }
  for (const name of single)
    if (claims.filter(claim => claim.name === name).length > 1)
      throw badRequest(`the header ${name} is given more than once`)
  // kube-apiserver ignores these headers if they are empty.
  return claims.filter(({ name, value }) => value !== '' || !single.includes(name))
}

/** Reports whether a raw header element (even positions are names) is one of impersonation. */
function isClaim(text: string, index: number): boolean {
  const first = text[0]
  return index % 2 === 0 && (first === 'I' || first === 'i') && text.toLowerCase().startsWith(claimPrefix)
}
