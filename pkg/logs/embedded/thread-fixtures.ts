import { parentPort, threadId } from 'node:worker_threads'

// A thread that says which it is, what it was told, or breaks.

const told: unknown[] = []

parentPort?.on(
  'message',
  (message: { readonly id?: number; readonly say?: string; readonly waitMs?: number }) => {
    if (message.id === undefined) told.push(message)
    else if (message.say === 'break') process.exit(1)
    else {
      const { id, waitMs = 0 } = message
      setTimeout(() => parentPort?.postMessage({ id, value: { threadId, told } }), waitMs)
    }
  },
)
