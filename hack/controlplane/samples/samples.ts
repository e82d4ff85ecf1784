import { setTimeout as sleep } from 'node:timers/promises'
import { isStatus } from '../../../pkg/apierrors/status.ts'
import type { KubeClient } from '../../../pkg/kubeclient/client.ts'
import { parseList } from '../../../pkg/kubeclient/object/object.ts'
import { retry } from '../../../pkg/kubeclient/retry.ts'
import { forEach } from '../for-each.ts'
import type { Settings } from '../settings.ts'
import { sampleNode, samplePod } from './sample-objects.ts'

const progressMs = 5000

/** Creates the sample nodes and their pods. Existing objects are not changed. */
export async function createSamples(
  client: KubeClient,
  { nodes, pods }: Settings,
  kubeletPort: number,
  say: (line: string) => void,
): Promise<void> {
  const now = new Date()
  const names: string[] = []
  await createAll('nodes', nodes, client, '/api/v1/nodes', say, i => {
    const node = sampleNode(i, kubeletPort, now)
    names[i] = node.metadata.name
    return node
  })
  if (pods === 0 || nodes === 0) return
  // Admission requires this service account, which a controller would create seconds later.
  await create(client, '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
  await createAll('pods', pods, client, '/api/v1/namespaces/default/pods', say, i =>
    samplePod(i, names[i % nodes] ?? ''),
  )
}

async function createAll(
  what: string,
  count: number,
  client: KubeClient,
  path: string,
  say: (line: string) => void,
  make: (i: number) => object,
): Promise<void> {
  let done = 0
  const progress = setInterval(() => say(`${done} of ${count} sample ${what}`), progressMs)
  const work = async (i: number) => {
    await create(client, path, make(i))
    done += 1
  }
  await forEach(0, count, work).finally(() => clearInterval(progress))
  say(`${count} sample ${what}`)
}

const nudgeAfterMs = 10_000

/** @throws Error if sample pods are still not running after two minutes */
export async function waitRunning(client: KubeClient, signal: AbortSignal): Promise<void> {
  const pods = '/api/v1/namespaces/default/pods'
  const startedAt = Date.now()
  let nudgedAt = startedAt
  for (;;) {
    const path = `${pods}?limit=500&fieldSelector=status.phase%3DPending`
    const pending = parseList(await client.call({ path })).items
    if (pending.length === 0) return
    if (Date.now() - startedAt > 120_000) throw new Error('sample pods are still pending after 120 s')
    if (Date.now() - nudgedAt > nudgeAfterMs) {
      // kwok sometimes misses a pod that was created before kwok managed its node; a change of the
      // pod triggers it.
      const body = { metadata: { annotations: { 'kapis.io/nudged': new Date().toISOString() } } }
      const contentType = 'application/merge-patch+json'
      const nudge = (name: string) =>
        client.call({ method: 'PATCH', path: `${pods}/${name}`, contentType, body })
      await Promise.all(pending.map(({ metadata }) => nudge(metadata.name)))
      nudgedAt = Date.now()
    }
    await sleep(100, undefined, { signal })
  }
}

/** Creates an object; an existing object is not changed. */
export async function create(client: KubeClient, path: string, body: object): Promise<void> {
  try {
    await client.call({ method: 'POST', path, body, timeoutMs: 30_000 })
  } catch (error) {
    if (!isStatus(error, 409)) throw error
  }
}

const appearsWithinMs = 120_000

/** @throws Status if the object does not exist within two minutes */
export function waitForObject(client: KubeClient, path: string): Promise<unknown> {
  const deadline = Date.now() + appearsWithinMs
  const isRetriable = (error: unknown) => isStatus(error, 404) && Date.now() < deadline
  return retry(() => client.call({ path }), { isRetriable, delayMs: () => 100 })
}
