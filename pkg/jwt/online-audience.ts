/** The scope of a token that may look and not touch. */
export const readScope = 'read'

export function isReadOnly(scope: string): boolean {
  return scope === readScope
}

/**
 * The audience of tokens that are good only where their session and their scope are looked at each time. kube-apiserver goes
 * by the token alone: it could neither hold one to its scope nor know that a long-lived one was ended, so it must not take
 * them, and what it is told to accept is the plain audience.
 */
export function liveAudience(audience: string): string {
  return `${audience}:live`
}
