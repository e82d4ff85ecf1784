import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import type { Hit } from '../../logs/store.ts'
import { type ExportForm, headOf, mediaTypes, toExportText } from './export-text.ts'
import { sendPages } from './send-pages.ts'

/** Sends an export. @param pages undefined if the caller may not see any line */
export function sendExport(
  exchange: AuthenticatedExchange,
  pages: AsyncGenerator<readonly Hit[]> | undefined,
  form: ExportForm,
): Promise<void> {
  const headers = { 'content-type': mediaTypes[form.format], 'content-disposition': 'attachment' }
  const format = (hits: readonly Hit[]) =>
    Buffer.from(hits.map(({ record }) => toExportText(record, form)).join(''))
  return sendPages(exchange, headers, pages, format, headOf(form))
}
