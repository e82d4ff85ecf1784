// So many concurrent reviews take about as long as one; more would slow down others.
export const maxReviews = 64
const inFlight = 16

type IsPermitted = (namespace: string) => Promise<boolean>

/** Returns the namespaces that kube-apiserver allows, sorted. */
export async function confirmNamespaces(
  names: readonly string[],
  may: IsPermitted,
): Promise<readonly string[]> {
  const allowed: string[] = []
  const rest = names.values()
  const worker = async () => {
    for (const name of rest) if (await may(name)) allowed.push(name)
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  return allowed.sort()
}

/** Reports whether kube-apiserver allows each of a sample of many namespaces. */
export async function confirmSample(names: readonly string[], may: IsPermitted): Promise<boolean> {
  const step = Math.max(Math.floor(names.length / maxReviews), 1)
  const sample = names.filter((_, i) => i % step === 0).slice(0, maxReviews)
  return (await confirmNamespaces(sample, may)).length === sample.length
}
