import type { IRouter, RequestHandler } from 'express'
import { oauthError } from './error.ts'

export type Methods = {
  readonly get?: RequestHandler
  readonly post?: RequestHandler
  readonly delete?: RequestHandler
  /** Reads the body of a POST; a form by default. */
  readonly body?: RequestHandler
  /**
   * Set if GET has effects. Express routes HEAD to the handler of GET, but HEAD must not have effects
   * (RFC 9110 section 9.2.1).
   */
  readonly isHeadRejected?: true
}

/**
 * Adds the routes of paths. A request with another method gets a 405.
 *
 * @param shared handlers before those of each path, and the reader of forms
 */
export function addRoutes(
  router: IRouter,
  { before, form }: { readonly before: readonly RequestHandler[]; readonly form: RequestHandler },
  routes: Readonly<Record<string, Methods>>,
): void {
  for (const [path, methods] of Object.entries(routes)) {
    const { get, post, delete: remove, body = form, isHeadRejected } = methods
    const served = [get && 'GET', get && !isHeadRejected && 'HEAD', post && 'POST', remove && 'DELETE']
    const allow = served.filter(Boolean).join(', ')
    const rejectMethod: RequestHandler = () => {
      const message = `method not allowed; supported: ${allow}`
      throw oauthError(405, 'invalid_request', message, { headers: { allow } })
    }
    const route = router.route(path)
    if (isHeadRejected) route.head(rejectMethod)
    if (get) route.get(...before, get)
    if (post) route.post(...before, body, post)
    if (remove) route.delete(...before, remove)
    route.all(rejectMethod)
  }
}
