import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parentPort } from 'node:worker_threads'
import { type Ingredients, mergeToFiles } from './merge.ts'
import { toAnswer } from './thread.ts'

/** Makes segments, away from the thread that answers requests. */
export type IndexerQuestion = Ingredients & {
  readonly folder: string
  readonly firstNumber: number
}

// A segment takes many times its size while it is made. Between two of them the engine sees no reason to let go of that, so
// it is told to.
setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

parentPort?.on('message', (question: IndexerQuestion & { readonly id: number }) => {
  const { id, folder, firstNumber } = question
  try {
    parentPort?.postMessage({ id, value: mergeToFiles(question, folder, firstNumber) })
  } catch (error) {
    parentPort?.postMessage(toAnswer(id, error))
  }
  setImmediate(collectGarbage)
})
