import { Status } from '../apierrors/status.ts'
import {
  authenticatedGroup,
  type Identity,
  splitServiceAccount,
  unauthenticatedGroup,
} from '../apirequest/identity/identity.ts'
import { encodeExtraKey, encodeHeaderText } from '../apirequest/identity/identity-header-encoding.ts'
import { identityProblem } from '../apirequest/identity/identity-problem.ts'
import type { HeaderLines } from './headers.ts'

type Names = {
  readonly user: string
  readonly uid: string
  readonly group: string
  readonly extraPrefix: string
}

const impersonation: Names = {
  user: 'Impersonate-User',
  uid: 'Impersonate-Uid',
  group: 'Impersonate-Group',
  extraPrefix: 'Impersonate-Extra-',
}

/**
 * The header names of the published front-proxy configuration. Components trust these headers only
 * on connections with the front-proxy client certificate.
 */
export const remoteHeaderNames = {
  user: 'X-Remote-User',
  uid: 'X-Remote-Uid',
  group: 'X-Remote-Group',
  extraPrefix: 'X-Remote-Extra-',
} as const satisfies Names

/**
 * Returns the impersonation headers for kube-apiserver; the request itself carries the credential
 * of Kapis.
 *
 * @throws Status 403 for an identity that a header cannot carry unchanged
 */
export const toImpersonation = remembering(identity =>
  write(impersonation, identity, toImpersonatedGroups(identity)),
)

/**
 * Returns the headers by which extension API servers authenticate the caller, as the aggregator of
 * kube-apiserver sends them.
 *
 * @throws Status 403 for an identity that a header cannot carry unchanged
 */
export const toRemoteHeaders = remembering(identity => write(remoteHeaderNames, identity, identity.groups))

/**
 * Returns the groups for the impersonation headers, so that the impersonation filter of
 * kube-apiserver results in exactly the groups of the caller. The filter adds
 * `system:authenticated`. To a service account without any group it also adds the groups of service
 * accounts, which a client certificate with such a common name does not have.
 */
function toImpersonatedGroups({ username, groups }: Identity): readonly string[] {
  const others = groups.filter(group => group !== authenticatedGroup)
  const isLeftToAdd =
    !others.includes(unauthenticatedGroup) &&
    (others.length > 0 || splitServiceAccount(username) === undefined)
  return isLeftToAdd ? others : groups
}

function write(names: Names, identity: Identity, groups: readonly string[]): HeaderLines {
  const problem = identityProblem(identity)
  if (problem !== undefined)
    throw new Status(
      403,
      'Forbidden',
      `the identity of the caller cannot be sent to the upstream server: ${problem}`,
    )
  const { username, uid, extra } = identity
  const lines = [names.user, encodeHeaderText(username)]
  if (uid !== '') lines.push(names.uid, encodeHeaderText(uid))
  for (const group of groups) lines.push(names.group, encodeHeaderText(group))
  for (const [key, values] of Object.entries(extra)) {
    for (const value of values)
      lines.push(`${names.extraPrefix}${encodeExtraKey(key)}`, encodeHeaderText(value))
  }
  return lines
}

/** Caches headers by identity object: authenticators return the same object while they cache it. */
function remembering(make: (identity: Identity) => HeaderLines): (identity: Identity) => HeaderLines {
  const made = new WeakMap<Identity, HeaderLines>()
  return identity => {
    const known = made.get(identity)
    if (known !== undefined) return known
    const lines = make(identity)
    made.set(identity, lines)
    return lines
  }
}
