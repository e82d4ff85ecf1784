import { Status } from '../apierrors/status.ts'
import { RejectionCause } from './server/error.ts'

/** Returns a 401 without an error code, for no credential (RFC 6750 section 3). */
export function loginRequired(): Status {
  return new Status(401, 'login_required', '', {
    headers: { 'www-authenticate': 'Bearer realm="kapis"' },
    cause: new RejectionCause('no_token'),
  })
}
