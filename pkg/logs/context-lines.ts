import { allOf, isOneOf } from './filter/expression.ts'
import type { Scope } from './filter/filter.ts'
import { tooMuchText } from './query/page-parameters.ts'
import type { LogRecord } from './record.ts'
import type { Hit, LogStore, Order, QueryLimits } from './store.ts'

/** Records of the same container before and after a record, in ascending order of time. */
export type Context = { readonly before: readonly Hit[]; readonly after: readonly Hit[] }

/**
 * Finds the neighbours of a record.
 *
 * @param around cursor and origin of the record; none is found if the scope excludes it
 * @throws Status 400 if the neighbours exceed the size of a page
 */
export async function findContext(
  store: LogStore,
  around: { readonly cursor: string } & Pick<LogRecord, 'namespace' | 'pod' | 'container'>,
  window: { readonly scope: Scope; readonly before: number; readonly after: number },
  limits: QueryLimits,
): Promise<Context> {
  const { cursor, namespace, pod, container } = around
  const expression = allOf([
    isOneOf('namespace', [namespace]),
    isOneOf('pod', [pod]),
    isOneOf('container', [container]),
  ])
  const filter = { scope: window.scope, expression }
  const read = async (order: Order, size: number): Promise<readonly Hit[]> => {
    if (size === 0) return []
    const query = { filter, order, size, start: { after: cursor }, withTotal: false }
    const { hits, isCut } = await store.query(query, limits)
    if (isCut) throw tooMuchText(order === 'desc' ? 'before' : 'after', hits.length)
    return hits
  }
  const [before, after] = await Promise.all([read('desc', window.before), read('asc', window.after)])
  return { before: before.toReversed(), after }
}
