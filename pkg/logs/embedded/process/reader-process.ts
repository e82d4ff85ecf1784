import { timedOut, unavailable } from '../../../apierrors/status.ts'
import { DamagedError } from '../partition/schema.ts'
import { createCaches } from '../read/caches.ts'
import type { CancelRequest, ReaderNotice, ReaderSettings, ReadRequest } from '../read/read-request.ts'
import { createSearch } from '../read/search.ts'
import { searchArrivals } from '../read/search-arrivals.ts'
import { searchRows } from '../read/search-rows.ts'
import type { Work } from '../read/selection.ts'
import { StoreReader } from '../read/store-reader.ts'
import { type Parent, serveParent } from './serve-parent.ts'

// Process that runs queries, concurrently in time slices. Started by child.ts.

type Message = (ReadRequest & { readonly id: number }) | CancelRequest

type Running = {
  readonly id: number
  readonly request: ReadRequest
  readonly work: Work<unknown>
  readonly deadline: number
}

// A longer time slice would delay small queries behind large ones; a shorter one costs more.
const sliceMs = 5

await serveParent<ReaderSettings, Message>(async ({ folders, cacheBytes, windowLines }, parent) => {
  const caches = createCaches(cacheBytes)
  const stores = new Map(
    Object.entries(folders).map(([store, folder]) => [store, new StoreReader(folder, caches)]),
  )
  const search = createSearch(caches.results, windowLines)
  let running: readonly Running[] = []

  function receive(message: Message): void {
    if (message.kind === 'cancel') {
      running = running.filter(({ id }) => id !== message.of)
      return
    }
    const isIdle = running.length === 0
    const deadline = performance.now() + message.timeoutMs
    running = [...running, { id: message.id, request: message, work: start(message), deadline }]
    if (isIdle) setImmediate(advance)
  }

  function* start(request: ReadRequest): Work<unknown> {
    const store = stores.get(request.store)
    if (store === undefined) throw new Error(`unknown store ${JSON.stringify(request.store)}`)
    const partitions = store.partitions()
    switch (request.kind) {
      case 'query':
        return yield* search.page(partitions, request.query)
      case 'rows':
        return yield* searchRows(
          (query, maxChars) => search.lines(store.partitions(), query, maxChars),
          request.query,
        )
      case 'origins':
        return yield* search.origins(partitions, request.filter)
      case 'statistics':
        return yield* search.statistics(partitions, request.filter)
      case 'histogram':
        return yield* search.histogram(partitions, request.filter, request.interval)
      case 'arrivals':
        return yield* searchArrivals(partitions, request.filter, request.ranges)
    }
  }

  /** Runs a time slice of the first query and moves it to the end of the list. */
  function advance(): void {
    const [first, ...others] = running
    if (first === undefined) return
    running = takeSlice(first, parent) ? others : [...others, first]
    stores.get(first.request.store)?.limitOpen()
    if (running.length > 0) setImmediate(advance)
  }

  return {
    receive,
    close: () => {
      for (const store of stores.values()) store.close()
    },
  }
})

/** Runs a query for a time slice. @returns whether the query has ended */
function takeSlice({ id, request, work, deadline }: Running, parent: Parent): boolean {
  const end = performance.now() + sliceMs
  try {
    do {
      if (performance.now() > deadline) {
        throw timedOut(`the query was stopped: it took longer than ${request.timeoutMs} ms`)
      }
      const { done, value } = work.next()
      if (done) {
        parent.respond(id, value)
        return true
      }
    } while (performance.now() < end)
    return false
  } catch (error) {
    parent.fail(id, noticed(error, request, parent))
    return true
  }
}

function noticed(error: unknown, { store }: ReadRequest, parent: Parent): unknown {
  if (!(error instanceof DamagedError)) return error
  parent.notify({ store, partition: error.partition, damage: error.message } satisfies ReaderNotice)
  return unavailable('a file of the log store is damaged and is being set aside; try again')
}
