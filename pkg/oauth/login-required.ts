import { Status } from '../apierrors/status.ts'
import { RejectionCause } from './server/error.ts'

/**
 * Returns a 401 whose challenge has no error code, for a request without a credential (RFC 6750
 * section 3).
 */
export function loginRequired(): Status {
  return new Status(401, 'login_required', '', {
    headers: { 'www-authenticate': 'Bearer realm="kapis"' },
    cause: new RejectionCause('no_token'),
  })
}
