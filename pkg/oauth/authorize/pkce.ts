import { createHash, timingSafeEqual } from 'node:crypto'
import { oauthError } from '../server/error.ts'
import type { Form } from '../server/form.ts'

// RFC 7636 sections 4.1 and 4.2; the challenge is always a SHA-256.
const verifierSyntax = /^[A-Za-z0-9._~-]{43,128}$/
const challengeSyntax = /^[A-Za-z0-9_-]{43}$/

/**
 * The code challenge of an authorization request (RFC 7636), S256 alone: with `plain` anyone who reads the request can use the
 * code. '' for a client with a secret that sends none.
 *
 * @throws Status invalid_request
 */
export function readChallenge(params: Form, { isRequired }: { isRequired: boolean }): string {
  const challenge = params.get('code_challenge')
  const method = params.get('code_challenge_method')
  if (challenge === undefined) {
    if (isRequired) throw invalid('the parameter code_challenge is required for public clients')
    if (method !== undefined) throw invalid('code_challenge_method requires code_challenge')
    return ''
  }
  // RFC 7636 section 4.3: without a method it is plain.
  if (method !== 'S256') throw invalid('the parameter code_challenge_method must be S256')
  if (!challengeSyntax.test(challenge))
    throw invalid('the parameter code_challenge must be a SHA-256 in base64url')
  return challenge
}

/**
 * Whether anyone who brings a code is who asked for it. A verifier for a code without a challenge is refused too: it says that
 * the challenge was taken out of the request on the way (RFC 9700 section 4.8.2).
 */
export function isVerified(challenge: string, verifier: string | undefined): boolean {
  if (challenge === '' || verifier === undefined) return challenge === '' && verifier === undefined
  if (!verifierSyntax.test(verifier)) return false
  const digest = createHash('sha256').update(verifier, 'ascii').digest('base64url')
  return timingSafeEqual(Buffer.from(digest), Buffer.from(challenge))
}

function invalid(description: string) {
  return oauthError(400, 'invalid_request', description)
}
