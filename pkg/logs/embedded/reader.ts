import type { LogFilter } from '../filter.ts'
import type { Interval } from '../interval.ts'
import type { Histogram, Hit, LogQuery, QueryLimits, QueryResult, Statistics } from '../store.ts'
import type { ReaderOrder, ReaderQuestion } from './reader-thread.ts'
import type { Thread } from './thread.ts'

/** Asks the thread that reads. */
export type Reader = {
  readonly query: (query: LogQuery, limits: QueryLimits) => Promise<QueryResult>
  readonly statistics: (filter: LogFilter, limits: QueryLimits) => Promise<Statistics>
  readonly histogram: (filter: LogFilter, interval: Interval, limits: QueryLimits) => Promise<Histogram>
  /** What arrived after a sequence, in the order of arrival. */
  readonly arrivals: (
    filter: LogFilter,
    wanted: { readonly after: number; readonly size: number },
    limits: QueryLimits,
  ) => Promise<readonly Hit[]>
}

/** @param prepare called before each question, to have told the thread what was appended before */
export function createReader(thread: Thread, prepare: () => void): Reader {
  async function ask(question: ReaderQuestion, { signal }: QueryLimits): Promise<unknown> {
    signal?.throwIfAborted()
    prepare()
    const { id, answer } = thread.ask(question)
    if (signal === undefined) return answer
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    const cancel = (): void => {
      thread.tell({ kind: 'cancel', of: id } satisfies ReaderOrder)
      reject(signal.reason)
    }
    signal.addEventListener('abort', cancel, { once: true })
    try {
      return await Promise.race([answer, aborted])
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }

  return {
    query: async (query, limits) => {
      const { timeoutMs } = limits
      return (await ask({ kind: 'query', query, timeoutMs }, limits)) as QueryResult
    },
    statistics: async (filter, limits) => {
      const { timeoutMs } = limits
      return (await ask({ kind: 'statistics', filter, timeoutMs }, limits)) as Statistics
    },
    histogram: async (filter, interval, limits) => {
      const { timeoutMs } = limits
      return (await ask({ kind: 'histogram', filter, interval, timeoutMs }, limits)) as Histogram
    },
    arrivals: async (filter, wanted, limits) => {
      const { timeoutMs } = limits
      return (await ask({ kind: 'arrivals', filter, ...wanted, timeoutMs }, limits)) as readonly Hit[]
    },
  }
}
