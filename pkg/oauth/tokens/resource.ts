import { oauthError } from '../server/error.ts'
import type { Form } from '../server/form.ts'

/**
 * Resource indicators (RFC 8707). Access tokens have the one audience of the platform, `oauth.audience`, whatever resources a
 * client names: they are checked, and change nothing.
 *
 * @throws Status invalid_target for what is no absolute URI without a fragment
 */
export function assertResources(form: Form): void {
  for (const resource of form.get('resource')?.split(' ') ?? [])
    if (!URL.canParse(resource) || resource.includes('#'))
      throw oauthError(
        400,
        'invalid_target',
        'the parameter resource must be an absolute URI without fragment',
      )
}
