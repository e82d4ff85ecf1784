import { toFormTarget } from '../authorize/csp-form-action.ts'
import { findTarget } from '../authorize/request.ts'
import type { ClientRegistry } from '../client.ts'
import { readAuthorizationRequest } from './login-proof.ts'

/** The login form ends in redirects to the client, which the CSP of the page must allow. */
export function formTargetsOf(registry: ClientRegistry, returnTo: string): readonly string[] {
  const params = readAuthorizationRequest(returnTo)
  if (params === undefined) return []
  try {
    return [toFormTarget(findTarget(registry, params).redirectUri)]
  } catch {
    // The authorization endpoint reports the error.
    return []
  }
}
