import { setTimeout as sleep } from 'node:timers/promises'
import { badRequest } from '../../../apierrors/status.ts'
import { serveParent } from './serve-parent.ts'

// Child process of child.test.ts. The kind of each message determines its behaviour.

type Message = { readonly kind: string; readonly id: number; readonly of?: number; readonly ms?: number }

await serveParent<{ readonly fails?: string }, Message>(async ({ fails }, parent) => {
  if (fails !== undefined) throw new Error(fails)
  const received: string[] = []
  return {
    receive: async ({ kind, id, ms = 0 }) => {
      received.push(kind)
      await sleep(ms)
      if (kind === 'exit') process.exit(7)
      if (kind === 'throw') parent.fail(id, badRequest('no'))
      if (kind === 'break') parent.fail(id, new Error('broken'))
      if (kind === 'notify') parent.notify({ kind })
      if (kind === 'describe')
        parent.respond(id, { pid: process.pid, received, keys: Object.keys(process.env) })
      if (kind === 'wait') parent.respond(id, 'waited')
    },
    close: () => undefined,
  }
})
