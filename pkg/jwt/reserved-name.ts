/**
 * Names that Kubernetes keeps for itself, such as the group system:masters. A token with one of them would make its bearer a
 * part of Kubernetes, so none is issued and none is accepted. White space before the name does not count: anyone who reads the
 * name out of a header field takes it off (RFC 9110 section 5.5).
 */
export function isReservedName(name: string): boolean {
  return name.trim().startsWith('system:')
}
