import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { batchName, type IngestResult } from '../../ingest/raw-batch.ts'
import { type BatchRecords, readRecords } from '../../ingest/read-records.ts'
import type { AppendResult } from '../../store.ts'
import type { Parent } from '../process/serve-parent.ts'
import type { CommittedLines, StoreWriter } from './store-writer.ts'
import type { RecordBatch, WriteRequest, WriteResponse } from './write-request.ts'

export type WriteQueue = {
  readonly add: (request: QueuedRequest) => void
  /** Drops requests that have not started. Resolves when no write is in progress. */
  readonly stop: () => Promise<void>
}

type QueuedRequest = WriteRequest & { readonly id: number }
type Write = Extract<QueuedRequest, { readonly kind: 'ingest' | 'append' }>
type WriteOutcome = {
  readonly id: number
  readonly store: string
  readonly result: IngestResult | AppendResult
}

// Maximum time in which batches are added to a transaction. Concurrent batches share a transaction,
// hence an fsync.
const transactionMs = 100

/** Creates a queue that applies requests in order of arrival. Background work runs in between. */
export function createWriteQueue(
  writers: ReadonlyMap<string, StoreWriter>,
  parent: Pick<Parent, 'respond' | 'fail'>,
): WriteQueue {
  let queue: QueuedRequest[] = []
  let working: Promise<void> | undefined

  function writerOf({ store }: Pick<QueuedRequest, 'store'>): StoreWriter {
    const writer = writers.get(store)
    if (writer === undefined) throw new Error(`unknown store ${JSON.stringify(store)}`)
    return writer
  }

  async function work(): Promise<void> {
    for (;;) {
      await nextTurn()
      const [next] = queue
      if (next !== undefined) {
        if (isWrite(next)) await transaction()
        else runMaintenance(next)
      }
      const hasMore = [...writers.values()].map(writer => writer.maintain()).includes(true)
      if (queue.length === 0 && !hasMore) break
    }
    working = undefined
  }

  function runMaintenance(request: Exclude<QueuedRequest, Write>): void {
    queue.shift()
    try {
      const writer = writerOf(request)
      if (request.kind === 'tidy') writer.tidy(request.nowMs)
      else writer.setAside(request.partition, new Error(request.message))
      parent.respond(request.id, undefined)
    } catch (error) {
      parent.fail(request.id, error)
    }
  }

  async function transaction(): Promise<void> {
    const until = performance.now() + transactionMs
    const waiting = new Set<number>()
    const applied: WriteOutcome[] = []
    try {
      for (let next = queue[0]; next !== undefined && isWrite(next); next = queue[0]) {
        queue.shift()
        waiting.add(next.id)
        const result = apply(next)
        if (result === undefined) waiting.delete(next.id)
        else applied.push({ id: next.id, store: next.store, result })
        // Lets further requests arrive, which then share the transaction.
        await nextTurn()
        if (performance.now() > until) break
      }
      const committed = new Map<string, readonly CommittedLines[]>()
      for (const [store, writer] of writers) committed.set(store, writer.commit())
      for (const { id, store, result } of applied) {
        const response: WriteResponse<IngestResult | AppendResult> = {
          result,
          committed: committed.get(store) ?? [],
        }
        parent.respond(id, response)
      }
    } catch (error) {
      for (const writer of writers.values()) writer.rollback()
      for (const id of waiting) parent.fail(id, error)
    }
  }

  /** Applies a write. @returns undefined if its batch alone is invalid */
  function apply(request: Write): IngestResult | AppendResult | undefined {
    const writer = writerOf(request)
    if (request.kind === 'append') {
      return writer.append(request.records, nameOf(request), request.nowMs)
    }
    const read = readOrFail(request)
    if (read === undefined) return undefined
    return read.respond(writer.append(read.records, batchName(request.batch), request.nowMs))
  }

  function readOrFail({ id, batch }: Extract<Write, { readonly kind: 'ingest' }>): BatchRecords | undefined {
    try {
      return readRecords(batch)
    } catch (error) {
      parent.fail(id, error)
      return undefined
    }
  }

  return {
    add: request => {
      queue.push(request)
      working ??= work()
    },
    stop: async () => {
      queue = []
      await working
    },
  }
}

function isWrite(request: QueuedRequest): request is Write {
  return request.kind === 'ingest' || request.kind === 'append'
}

function nameOf({ records, name }: RecordBatch): string {
  if (name !== undefined) return digest('name', name)
  const text = JSON.stringify(records, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  return digest('records', text)
}

function digest(kind: string, data: string): string {
  return createHash('sha256').update(`${kind}\n`).update(data).digest('base64')
}
