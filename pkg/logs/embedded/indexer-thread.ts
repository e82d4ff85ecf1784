import { parentPort, workerData } from 'node:worker_threads'
import { createGarbage } from './garbage.ts'
import { type Ingredients, mergeToFiles } from './merge.ts'
import { createMergeMemory } from './merge-memory.ts'
import { createGiveWay } from './precedence.ts'
import { toAnswer } from './thread.ts'
import { standBack } from './thread-priority.ts'
import { createIndexer } from './word-index.ts'
import { createListGatherer } from './word-lists.ts'

/** `precedence`: the memory of who goes first. */
export type IndexerSettings = { readonly precedence: SharedArrayBuffer }

/** Makes segments, away from the thread that answers requests. */
export type IndexerQuestion = Ingredients & {
  readonly folder: string
  readonly firstNumber: number
}

// Of a segment nothing is left; of those that are made one, what was read of them.
const mostGarbageBytes = 8 * 1024 * 1024

// What shares its memory with others cannot be let go of by itself.
Buffer.poolSize = 0
// Nobody waits for it.
standBack(5)
const settings: IndexerSettings = workerData
const means = {
  giveWay: createGiveWay(settings.precedence),
  indexer: createIndexer(createListGatherer()),
  memory: createMergeMemory(),
}
const garbage = createGarbage()

parentPort?.on('message', (question: IndexerQuestion & { readonly id: number }) => {
  const { id, folder, firstNumber } = question
  try {
    parentPort?.postMessage({ id, value: mergeToFiles(question, { folder, firstNumber }, means) })
  } catch (error) {
    parentPort?.postMessage(toAnswer(id, error))
  }
  garbage.collectBeyond(mostGarbageBytes)
})
