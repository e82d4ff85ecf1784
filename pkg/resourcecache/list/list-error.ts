import { isStatus, type Status, unavailable, unknownResource } from '../../apierrors/status.ts'

/** Returns the error for the caller if kube-apiserver does not allow Kapis to list a kind. */
export function explainForbidden(plural: string, cause: unknown): Status {
  if (isStatus(cause, 404)) return unknownResource()
  if (isStatus(cause, 403))
    return unavailable(
      `the Kapis service account cannot list ${plural}: add get, list and watch to its ClusterRole`,
      cause,
    )
  return unavailable(`failed to list ${plural} at kube-apiserver`, cause)
}
