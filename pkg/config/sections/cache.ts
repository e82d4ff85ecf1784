import type { z } from 'zod'
import { choice, integer, section } from '../option.ts'

/** How the resource cache keeps kinds besides those that are always followed. */
export const cache = section({
  idleSeconds: integer({
    default: 600,
    min: 5,
    max: 86_400,
    isReloaded: true,
    description:
      'How long a kind that nobody asks for any more is still followed, in seconds. The aggregated kinds always are.',
  }),
  maxMegabytes: integer({
    default: 1_024,
    min: 16,
    max: 1_048_576,
    isReloaded: true,
    description:
      'Estimated memory of all kinds that are followed, in MiB. Beyond it those that are not in use are let go, and no further one is begun (503).',
  }),
  platformReads: choice({
    of: ['cached', 'consistent'],
    default: 'cached',
    isReloaded: true,
    description:
      'Reads below `/kapis` without a resourceVersion: `cached` is as fresh as the watch, milliseconds as a rule; `consistent` includes every write that was answered before the read, and costs a list at kube-apiserver that all who wait share. Reads of the extension API and below `/kapi` are always consistent.',
  }),
})

export type CacheConfig = Readonly<z.output<typeof cache>>
