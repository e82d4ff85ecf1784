import { isStatus, type Status, unavailable, unknownResource } from '../../apierrors/status.ts'

/** Returns the error for the caller if kube-apiserver does not allow Kapis to list a kind. */
export function explainForbidden(plural: string, refusal: unknown): Status {
  if (isStatus(refusal, 404)) return unknownResource()
  if (isStatus(refusal, 403))
    return unavailable(
      `the Kapis service account cannot list ${plural}: add get, list and watch to its ClusterRole`,
      refusal,
    )
  return unavailable(`failed to list ${plural} at kube-apiserver`, refusal)
}
