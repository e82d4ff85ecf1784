import { toFormTarget } from '../authorize/form-target.ts'
import { findTarget } from '../authorize/request.ts'
import type { ClientRegistry } from '../client.ts'
import { parseQuery } from '../form.ts'

/** The login goes on to the client by redirects, which the CSP of the page with the form has to allow. */
export function formTargetsOf(registry: ClientRegistry, returnTo: string): readonly string[] {
  const [path, query = ''] = returnTo.split(/\?(.*)/s)
  if (path !== '/oauth/authorize') return []
  try {
    return [toFormTarget(findTarget(registry, parseQuery(query)).redirectUri)]
  } catch {
    // The authorization endpoint will say what is wrong with it.
    return []
  }
}
