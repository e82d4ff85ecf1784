import type { KubeClient } from '../kube/client.ts'

const keepMs = 60_000

/** kube-apiserver's version.Info, asked for at most once a minute; undefined while it does not answer. */
export function createKubernetesVersion(client: KubeClient): () => Promise<unknown> {
  let known: { readonly value: unknown; readonly untilMs: number } | undefined
  return async () => {
    if (known && known.untilMs > performance.now()) return known.value
    try {
      const value = await client.call({ path: '/version', timeoutMs: 2_000 })
      known = { value, untilMs: performance.now() + keepMs }
    } catch {
      // Whoever asks wants to know what there is; that kube-apiserver is gone is told elsewhere.
      return undefined
    }
    return known.value
  }
}
