/** The scope of a token that may look and not touch. */
export const readScope = 'read'

export function isReadOnly(scope: string): boolean {
  return scope === readScope
}

/**
 * Read-only tokens have an audience of their own: kube-apiserver takes Kapis' tokens by their audience and cannot hold one to
 * its scope, so it must not take these at all.
 */
export function readOnlyAudience(audience: string): string {
  return `${audience}:${readScope}`
}
