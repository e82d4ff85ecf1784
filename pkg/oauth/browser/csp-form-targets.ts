import { toFormTarget } from '../authorize/csp-form-action.ts'
import { findTarget } from '../authorize/request.ts'
import type { ClientRegistry } from '../client.ts'
import { readAuthorizationRequest } from './login-proof.ts'

/** Returns the CSP form-action sources for a login form, which ends in redirects to the client. */
export function formTargetsOf(registry: ClientRegistry, returnTo: string): readonly string[] {
  const params = readAuthorizationRequest(returnTo)
  if (params === undefined) return []
  try {
    return [toFormTarget(findTarget(registry, params).redirectUri)]
  } catch {
    // The authorization endpoint reports the invalid request.
    return []
  }
}
