import type { OutgoingHttpHeaders } from 'node:http'
import { authenticatedGroup, type Identity } from '../request/identity.ts'

/**
 * The headers that make a request the caller's own at the orchestrator. Kapis signs on as itself and says for whom: its
 * rights allow that and little else, and RBAC judges the caller.
 */
export function toImpersonation(identity: Identity): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { 'impersonate-user': encodeValue(identity.username) }
  // kube-apiserver adds this group to whoever is impersonated; naming it would take a right of its own.
  const groups = identity.groups.filter(group => group !== authenticatedGroup)
  if (groups.length > 0) headers['impersonate-group'] = groups.map(encodeValue)
  if (identity.uid !== '') headers['impersonate-uid'] = encodeValue(identity.uid)
  for (const [key, values] of Object.entries(identity.extra)) {
    headers[`impersonate-extra-${encodeKey(key)}`] = values.map(encodeValue)
  }
  return headers
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
