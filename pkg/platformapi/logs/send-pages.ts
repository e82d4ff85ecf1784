import type { OutgoingHttpHeaders } from 'node:http'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { createPacedWriter } from '../../httpserver/response/respond.ts'

/**
 * Writes a response page by page, as fast as the client reads. The first page is read before any
 * output, so that an invalid query gets an error response; a later failure aborts the response.
 *
 * @param pages undefined for a response without pages
 * @param head text before the first page
 */
export async function sendPages<Page>(
  { req, res }: AuthenticatedExchange,
  headers: OutgoingHttpHeaders,
  pages: AsyncGenerator<Page> | undefined,
  format: (page: Page) => Uint8Array,
  head = '',
): Promise<void> {
  let page = await pages?.next()
  res.writeHead(200, {
    'cache-control': 'no-cache, private',
    'x-content-type-options': 'nosniff',
    ...headers,
  })
  const write = createPacedWriter(res)
  if (head !== '') await write(Buffer.from(head))
  while (pages !== undefined && page?.done === false && !res.destroyed && req.method !== 'HEAD') {
    const bytes = format(page.value)
    // Reads the next page while this one is being sent.
    const next = pages.next()
    next.catch(() => undefined)
    await write(bytes)
    page = await next
  }
  await pages?.return(undefined)
  res.end()
}
