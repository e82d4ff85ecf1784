/** The scope of a read-only token. */
export const readScope = 'read'

/** @param scope separated by spaces (RFC 6749 section 3.3) */
export function isReadOnly(scope: string): boolean {
  return scope.split(' ').includes(readScope)
}

/**
 * The audience of tokens that are only valid where session and scope are checked for each request.
 * kube-apiserver checks only the token: it would neither enforce a scope nor notice a revocation,
 * so it must be configured with the plain audience only.
 */
export function onlineAudience(audience: string): string {
  return `${audience}:live`
}
