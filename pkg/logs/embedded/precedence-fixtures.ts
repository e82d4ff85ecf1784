import { parentPort, workerData } from 'node:worker_threads'
import { createGiveWay } from './precedence.ts'

// A thread that gives way once for each message, and tells how long that took.
const giveWay = createGiveWay(workerData)

parentPort?.on('message', () => {
  const startedAt = performance.now()
  giveWay()
  parentPort?.postMessage(performance.now() - startedAt)
})
