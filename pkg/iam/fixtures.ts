import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { KubeClient } from '../kubeclient/client.ts'
import type { KubeObject } from '../kubeclient/object/object.ts'
import type { WatchEvent } from '../kubeclient/watch/watch.ts'
import { createLogger } from '../telemetry/logger.ts'

export const silent = createLogger({
  program: 'test',
  level: 'error',
  destination: { write: () => undefined },
})

/** Creates a collection whose watch ends, and resumes after missed events. */
export function createScriptedCollection(initial: readonly KubeObject[]) {
  let items = initial
  let watch: IncomingMessage | undefined
  const deleted: string[] = []
  const deleteOptions: unknown[] = []
  const list = () => ({ kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items })
  const client: KubeClient = {
    async call({ method = 'GET', path, body }) {
      if (method === 'DELETE') {
        deleted.push(path)
        deleteOptions.push(body)
      }
      return list()
    },
    async stream({ path }) {
      const response = new IncomingMessage(new Socket())
      if (new URLSearchParams(path.split('?')[1]).has('watch')) watch = response
      else {
        response.push(JSON.stringify(list()))
        response.push(null)
      }
      return response
    },
    close: () => undefined,
  }
  const push = (event: unknown) => void watch?.push(`${JSON.stringify(event)}\n`)
  return {
    client,
    /** Paths of deleted objects. */
    deleted,
    /** Request bodies of the deletions. */
    deleteOptions,
    isWatched: () => watch !== undefined,
    emit: (event: WatchEvent) => push(event),
    /** Ends the watch with 410 (Gone); the next list returns `next`. */
    expire(next: readonly KubeObject[]) {
      items = next
      push({ type: 'ERROR', object: { code: 410, reason: 'Expired', message: 'too old' } })
    },
  }
}

/** Waits until a condition holds, such as the delivery of a watch event. */
export async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error('it has not come')
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}
