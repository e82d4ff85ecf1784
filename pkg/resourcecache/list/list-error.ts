import { Status, unavailable, unknownResource } from '../../apierrors/status.ts'

/** Returns the error for the caller if kube-apiserver does not allow Kapis to list a kind. */
export function explainForbidden(plural: string, refusal: unknown): Status {
  if (isUnknown(refusal)) return unknownResource()
  if (refusal instanceof Status && refusal.code === 403)
    return unavailable(
      `the Kapis service account cannot list ${plural}: add get, list and watch to its ClusterRole`,
      refusal,
    )
  return unavailable(`failed to list ${plural} at kube-apiserver`, refusal)
}

/** Returns whether an error means that the kind does not exist. */
export function isUnknown(refusal: unknown): boolean {
  return refusal instanceof Status && refusal.code === 404
}
