import { oauthError } from '../server/error.ts'
import type { Form } from '../server/form.ts'

/**
 * Validates resource indicators (RFC 8707). They do not change the token: access tokens always have
 * the audience `oauth.audience`.
 *
 * @throws Status invalid_target if a value is not an absolute URI without a fragment
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
