/**
 * Reports whether a name is reserved for Kubernetes, such as the group system:masters. Tokens with
 * reserved names are neither issued nor accepted. Leading white space is ignored, since HTTP strips
 * it from header values (RFC 9110 section 5.5).
 */
export function isReservedName(name: string): boolean {
  return name.trim().startsWith('system:')
}
