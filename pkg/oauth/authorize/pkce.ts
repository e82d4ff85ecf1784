import { createHash, timingSafeEqual } from 'node:crypto'
import { invalidRequest } from '../server/error.ts'
import type { Form } from '../server/form.ts'

// The syntax of RFC 7636 sections 4.1 and 4.2; the challenge is always a SHA-256.
const verifierSyntax = /^[A-Za-z0-9._~-]{43,128}$/
const challengeSyntax = /^[A-Za-z0-9_-]{43}$/

/**
 * Returns the code challenge of an authorization request (RFC 7636). Only S256 is supported: with
 * `plain`, anyone who reads the request can redeem the code. '' for a confidential client without
 * PKCE.
 *
 * @throws Status invalid_request
 */
export function readChallenge(params: Form, { isRequired }: { isRequired: boolean }): string {
  const challenge = params.get('code_challenge')
  const method = params.get('code_challenge_method')
  if (challenge === undefined) {
    if (isRequired) throw invalidRequest('the parameter code_challenge is required for public clients')
    if (method !== undefined) throw invalidRequest('code_challenge_method requires code_challenge')
    return ''
  }
  // RFC 7636 section 4.3: the default method is plain.
  if (method !== 'S256') throw invalidRequest('the parameter code_challenge_method must be S256')
  if (!challengeSyntax.test(challenge))
    throw invalidRequest('the parameter code_challenge must be a SHA-256 in base64url')
  return challenge
}

/**
 * Reports whether the code verifier matches the challenge. A verifier without a challenge is
 * rejected too: an attacker may have removed the challenge from the request (RFC 9700 section
 * 4.8.2).
 */
export function isVerified(challenge: string, verifier: string | undefined): boolean {
  if (challenge === '' || verifier === undefined) return challenge === '' && verifier === undefined
  if (!verifierSyntax.test(verifier)) return false
  const digest = createHash('sha256').update(verifier, 'ascii').digest('base64url')
  return timingSafeEqual(Buffer.from(digest), Buffer.from(challenge))
}
