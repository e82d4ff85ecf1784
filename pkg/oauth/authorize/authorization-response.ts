import type { Request, Response } from 'express'
import { Status } from '../../apierrors/status.ts'
import { errorDescription, oauthReasons } from '../server/error.ts'
import type { Target } from './request.ts'

/**
 * Redirects the browser back to the client with the unchanged state. The parameter iss identifies
 * the issuer (RFC 9207, mix-up attacks). The status for a POST is 303, so that browsers do not
 * resend the form (RFC 9700 section 4.12).
 */
export function sendAuthorizationResponse(
  { req, res }: { req: Request; res: Response },
  { redirectUri, state }: Pick<Target, 'redirectUri' | 'state'>,
  response: Readonly<Record<string, string>> & { readonly iss: string },
): void {
  const query = new URLSearchParams({ ...response, ...(state === undefined ? {} : { state }) })
  res.set({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
  // Parameters are appended as text: a URL parser would normalize the registered URI.
  res.status(req.method === 'GET' ? 302 : 303)
  res.set('location', `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`).end()
}

/**
 * Returns the error parameters for the client (RFC 6749 section 4.1.2.1); undefined for an error
 * that must not be sent to the client.
 */
export function toResponse(error: unknown): { error: string; error_description?: string } | undefined {
  if (!(error instanceof Status)) return undefined
  if (oauthReasons.has(error.reason)) return { error: error.reason, ...errorDescription(error) }
  return error.code === 503 ? { error: 'temporarily_unavailable' } : undefined
}
