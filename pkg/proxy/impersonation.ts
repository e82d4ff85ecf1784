import { authenticatedGroup, type Identity } from '../request/identity.ts'
import type { HeaderLines } from './headers.ts'
import { encodeKey, encodeValue } from './identity-encoding.ts'

// Authenticators hand out one object for one identity, for as long as they remember it.
const made = new WeakMap<Identity, HeaderLines>()

/**
 * The headers that make a request the caller's own at the orchestrator. Kapis signs on as itself and says for whom: its
 * rights allow that and little else, and RBAC judges the caller.
 */
export function toImpersonation(identity: Identity): HeaderLines {
  const known = made.get(identity)
  if (known) return known
  const lines = ['Impersonate-User', encodeValue(identity.username)]
  // kube-apiserver adds this group to whoever is impersonated; naming it would take a right of its own.
  for (const group of identity.groups) {
    if (group !== authenticatedGroup) lines.push('Impersonate-Group', encodeValue(group))
  }
  if (identity.uid !== '') lines.push('Impersonate-Uid', encodeValue(identity.uid))
  for (const [key, values] of Object.entries(identity.extra)) {
    for (const value of values) lines.push(`Impersonate-Extra-${encodeKey(key)}`, encodeValue(value))
  }
  made.set(identity, lines)
  return lines
}
