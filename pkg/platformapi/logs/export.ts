import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { createPacedWriter } from '../../httpserver/response/respond.ts'
import { exportHits } from '../../logs/export-records.ts'
import type { LogFilter } from '../../logs/filter/filter.ts'
import type { LogStore, Order, QueryLimits } from '../../logs/store.ts'
import { type ExportForm, headOf, mediaTypes, toExportText } from './export-text.ts'

export type Export = ExportForm & {
  /** undefined if the caller may not see any line. */
  readonly filter: LogFilter | undefined
  readonly order: Order
  readonly limit: number
}

/**
 * Writes records page by page, as fast as the client reads. The first page is read before any
 * output, so that an invalid query gets an error response; a later failure aborts the response.
 */
export async function sendExport(
  store: LogStore,
  { req, res }: AuthenticatedExchange,
  requested: Export,
  limits: QueryLimits,
): Promise<void> {
  const { filter, order, limit } = requested
  const pages = filter && exportHits(store, { filter, order, limit }, limits)
  let page = await pages?.next()
  res.writeHead(200, {
    'content-type': mediaTypes[requested.format],
    'content-disposition': 'attachment',
    'cache-control': 'no-cache, private',
    'x-content-type-options': 'nosniff',
  })
  const write = createPacedWriter(res)
  const head = headOf(requested)
  if (head !== '') await write(Buffer.from(head))
  while (pages !== undefined && page?.done === false && !res.destroyed && req.method !== 'HEAD') {
    const text = page.value.map(({ record }) => toExportText(record, requested)).join('')
    // Reads the next page while this one is being sent.
    const next = pages.next()
    next.catch(() => undefined)
    await write(Buffer.from(text))
    page = await next
  }
  await pages?.return(undefined)
  res.end()
}
