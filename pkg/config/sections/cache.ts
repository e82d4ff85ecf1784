import { choice, integer, section } from '../option.ts'

/** The resource cache: options for kinds that are not always cached. */
export const cache = section({
  idleSeconds: integer({
    default: 600,
    min: 5,
    max: 86_400,
    isReloaded: true,
    description:
      'How long a kind stays cached after the last request for it, in seconds. The kinds of the extension API are always cached.',
  }),
  maxMegabytes: integer({
    default: 1_024,
    min: 16,
    max: 1_048_576,
    isReloaded: true,
    description:
      'Limit for the estimated memory of all cached kinds, in MiB. Beyond it unused kinds are removed from the cache, and requests for kinds that are not cached get 503.',
  }),
  platformReads: choice({
    of: ['cached', 'consistent'],
    default: 'cached',
    isReloaded: true,
    description:
      'Consistency of reads below `/kapis` without a resourceVersion: `cached` lags by the delay of the watch, usually milliseconds; `consistent` includes every write that completed before the read, at the cost of one request to kube-apiserver that concurrent reads share. Reads of the extension API and below `/kapi` are always consistent.',
  }),
  clusterLists: choice({
    of: ['narrowed', 'forbidden'],
    default: 'narrowed',
    isReloaded: true,
    description:
      'Lists and watches of the whole cluster for callers who may list the kind in some namespaces only: `narrowed` shows the objects in these namespaces; `forbidden` is 403, as at kube-apiserver. Paths that are proxied to kube-apiserver are not affected.',
  }),
})
