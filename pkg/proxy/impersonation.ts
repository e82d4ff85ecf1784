import { authenticatedGroup, type Identity } from '../request/identity.ts'
import type { HeaderLines } from './headers.ts'

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

/** Header names are tokens (RFC 9110 section 5.6.2); what is none is percent-encoded, as client-go does it. */
function encodeKey(key: string): string {
  return encodeURIComponent(key)
    .replace(/[()'*]/g, char => `%${char.charCodeAt(0).toString(16)}`)
    .toLowerCase()
}

/** Node writes header values as latin1; Kubernetes reads UTF-8. */
function encodeValue(value: string): string {
  return Buffer.from(value, 'utf8').toString('latin1')
}
