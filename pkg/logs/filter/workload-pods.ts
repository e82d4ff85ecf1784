// The random suffix of generated names and of ReplicaSets (apimachinery, util/rand).
const hash = '[bcdfghjklmnpqrstvwxz2456789]{1,10}'
const suffix = '[a-z0-9]{5}'
const generated = new RegExp(`^(?:${hash}-)?${suffix}$`)
const ordinal = /^[0-9]+$/
const hashStart = /^[bcdfghjklmnpqrstvwxz2456789]{0,10}-?$/

// A generated name is its base, cut to 58 characters, and a suffix of five (apiserver).
const longestBase = 58
const longestName = 63

/**
 * Reports whether a workload (Deployment, StatefulSet, DaemonSet, Job or bare pod) may have
 * generated a pod name. Only the name is used, because logs of deleted workloads must be found,
 * too.
 */
export function isPodOf(workload: string, pod: string): boolean {
  if (pod === workload) return true
  if (pod.startsWith(`${workload}-`)) {
    const rest = pod.slice(workload.length + 1)
    if (generated.test(rest) || ordinal.test(rest)) return true
  }
  return pod.length === longestName && isCutPodOf(workload, pod)
}

function isCutPodOf(workload: string, pod: string): boolean {
  const base = pod.slice(0, longestBase)
  const stem = `${workload}-`
  if (stem.startsWith(base)) return true
  return base.startsWith(stem) && hashStart.test(base.slice(stem.length))
}
