/** The scope of a read-only token. */
export const readScope = 'read'

/** Reports whether a scope is read-only. @param scope values, separated by spaces */
export function isReadOnly(scope: string): boolean {
  return scope.split(' ').includes(readScope)
}

/**
 * Returns the audience of tokens that are only valid where each request checks session and scope.
 * kube-apiserver does neither, so it must only be configured with the plain audience.
 */
export function onlineAudience(audience: string): string {
  return `${audience}:live`
}
