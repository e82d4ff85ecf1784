import { setTimeout as sleep } from 'node:timers/promises'
import { makeFolders } from '../../../files/make-folders.ts'
import { type FolderLock, lockFolder } from '../write/folder-lock.ts'
import { StoreWriter } from '../write/store-writer.ts'
import { createWriteQueue } from '../write/write-queue.ts'
import type { WriteRequest, WriterNotice, WriterSettings } from '../write/write-request.ts'
import { serveParent } from './serve-parent.ts'

// Time to wait for the lock: if the previous server was killed, its writer process keeps the lock
// until it notices the disconnect.
const lockWithinMs = 3_000
const lockRetryMs = 50

await serveParent<WriterSettings, WriteRequest & { readonly id: number }>(async ({ stores }, parent) => {
  const [folder = ''] = Object.values(stores).map(store => store.folder)
  makeFolders(folder)
  const lock = await lockSoon(folder)
  const writers = new Map(
    Object.entries(stores).map(([store, settings]) => {
      const report = (message: string, error?: unknown): void =>
        parent.notify({
          store,
          message,
          ...(error instanceof Error ? { error: error.message } : {}),
        } satisfies WriterNotice)
      return [store, new StoreWriter(settings, report)]
    }),
  )
  const queue = createWriteQueue(writers, parent)
  return {
    receive: queue.add,
    close: async () => {
      await queue.stop()
      for (const writer of writers.values()) writer.close()
      lock.release()
    },
  }
})

async function lockSoon(folder: string): Promise<FolderLock> {
  const until = performance.now() + lockWithinMs
  for (;;) {
    try {
      return lockFolder(folder)
    } catch (error) {
      if (performance.now() > until) throw error
      await sleep(lockRetryMs)
    }
  }
}
