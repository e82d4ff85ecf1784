import { parentPort, workerData } from 'node:worker_threads'
import { createGarbage } from './garbage.ts'
import { type Ingredients, mergeToFiles } from './merge.ts'
import { createGiveWay } from './precedence.ts'
import { toAnswer } from './thread.ts'
import { standBack } from './thread-priority.ts'

/** `precedence`: the memory of who goes first. */
export type IndexerSettings = { readonly precedence: SharedArrayBuffer }

/** Makes segments, away from the thread that answers requests. */
export type IndexerQuestion = Ingredients & {
  readonly folder: string
  readonly firstNumber: number
}

// Nobody waits for it.
standBack(5)
const settings: IndexerSettings = workerData
const giveWay = createGiveWay(settings.precedence)
// A segment takes many times its size while it is made, which nothing needs between two of them.
const garbage = createGarbage()

parentPort?.on('message', (question: IndexerQuestion & { readonly id: number }) => {
  const { id, folder, firstNumber } = question
  try {
    parentPort?.postMessage({ id, value: mergeToFiles(question, { folder, firstNumber, giveWay }) })
  } catch (error) {
    parentPort?.postMessage(toAnswer(id, error))
  }
  setImmediate(garbage.collect)
})
