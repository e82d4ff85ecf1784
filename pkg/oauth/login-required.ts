import { Status } from '../apierrors/status.ts'
import { Refusal } from './server/error.ts'

/** RFC 6750 section 3: without a credential the challenge has no error code. */
export function loginRequired(): Status {
  return new Status(401, 'login_required', '', {
    headers: { 'www-authenticate': 'Bearer realm="kapis"' },
    cause: new Refusal('no_token'),
  })
}
