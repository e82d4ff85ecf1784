import type { IncomingMessage, ServerResponse } from 'node:http'
import { acceptsGzip, send, sendChunks } from '../../httpserver/response/respond.ts'
import type { TimeSlices } from '../../scheduling/time-slices.ts'
import type { Selection } from '../store/chunk.ts'
import { joinGzip } from './gzip.ts'
import { type Form, type Frame, gzipPieces, isWorthGzip, plainChunks } from './list-body.ts'
import { type Visibility, whileVisible } from './object-visibility.ts'
import type { PageCache } from './page-cache.ts'

const headers = { 'content-type': 'application/json', vary: 'Accept-Encoding' }

/**
 * Writes a list from stored bytes, compressed if the client supports it and the list is large
 * enough. Occupies memory for only one chunk per response, even if the client is slow.
 */
export function sendList(
  { req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse },
  { pages, timeSlices }: { readonly pages: PageCache; readonly timeSlices: TimeSlices },
  list: {
    readonly selection: Selection
    readonly form: Form
    readonly frame: Frame
    readonly visible?: Visibility | undefined
  },
): Promise<void> | void {
  const { selection, form, frame, visible } = list
  const allowed = (chunks: Iterable<Buffer>) => whileVisible(visible, chunks, () => res.destroy())
  if (acceptsGzip(req) && isWorthGzip(selection, form)) {
    const pieces = gzipPieces(selection, form, frame, pages.pieces)
    return sendChunks(res, allowed(joinGzip(pieces)), { ...headers, 'content-encoding': 'gzip' }, timeSlices)
  }
  const joined = pages.page(selection, form, frame)
  if (joined) return send(res, 200, joined, headers)
  return sendChunks(res, allowed(plainChunks(selection, form, frame)), headers, timeSlices)
}
