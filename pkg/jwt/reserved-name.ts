/**
 * Returns whether a name is reserved for Kubernetes, such as the group system:masters. Tokens with
 * such a name are neither issued nor accepted. Leading white space is ignored, because HTTP strips
 * it from headers (RFC 9110 section 5.5).
 */
export function isReservedName(name: string): boolean {
  return name.trim().startsWith('system:')
}
