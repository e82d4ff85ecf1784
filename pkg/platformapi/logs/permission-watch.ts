import { unavailable } from '../../apierrors/status.ts'

export type PermissionTimes = { readonly permissionEveryMs?: number; readonly uncheckedMs?: number }

export type PermissionWatch = {
  readonly stop: () => void
  /** @throws Status 503 if the watch has ended because permissions could not be checked */
  readonly throwIfUnchecked: () => void
}

const defaultEveryMs = 1_000
// The default time for which kube-apiserver caches allowed decisions of an authorization webhook.
const defaultUncheckedMs = 300_000

/**
 * Checks periodically whether the caller still has a permission.
 *
 * @param end called when the permission is revoked, or no check has succeeded for five minutes
 */
export function watchPermission(
  isPermitted: () => Promise<boolean>,
  end: () => void,
  { permissionEveryMs = defaultEveryMs, uncheckedMs = defaultUncheckedMs }: PermissionTimes,
): PermissionWatch {
  let checkedAt = performance.now()
  let isChecking = false
  let isUnchecked = false
  let cause: unknown
  async function check(): Promise<void> {
    if (performance.now() - checkedAt >= uncheckedMs) {
      isUnchecked = true
      end()
    }
    if (isChecking) return
    isChecking = true
    try {
      if (!(await isPermitted())) end()
      checkedAt = performance.now()
    } catch (error) {
      cause = error
    }
    isChecking = false
  }
  const timer = setInterval(check, permissionEveryMs)
  return {
    stop: () => clearInterval(timer),
    throwIfUnchecked() {
      if (isUnchecked) throw unavailable('failed to check the permissions of the caller', cause)
    },
  }
}
