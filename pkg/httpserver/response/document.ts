import { createHash } from 'node:crypto'
import type { OutgoingHttpHeaders } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { Exchange } from '../../apirequest/request-context.ts'
import { stringifyExactly } from '../../json/stringify.ts'
import { acceptsGzip, send } from './respond.ts'

/** A static response body, the same for all callers: serialized once, with a digest as its ETag. */
export type Document = {
  readonly body: Buffer
  readonly gzip: Buffer
  /** SHA-512 in upper-case hexadecimal, as kube-apiserver formats it. */
  readonly hash: string
}

// Smaller responses fit into one packet with or without compression.
const minGzipBytes = 1_400

export function createDocument(value: unknown): Document {
  return createTextDocument(`${stringifyExactly(value)}\n`)
}

export function createTextDocument(text: string): Document {
  const body = Buffer.from(text)
  const hash = createHash('sha512').update(body).digest('hex').toUpperCase()
  return { body, gzip: gzipSync(body), hash }
}

/** Responds with the document, or with 304 if the ETag matches (RFC 9110 section 13.1.2). */
export function sendDocument(
  { req, res }: Pick<Exchange, 'req' | 'res'>,
  document: Document,
  headers: OutgoingHttpHeaders = {},
): void {
  const isGzip = document.body.length >= minGzipBytes && acceptsGzip(req)
  // A strong ETag identifies the bytes, which differ when compressed (RFC 9110 section 8.8.3.3).
  const etag = isGzip ? `"${document.hash}-gzip"` : `"${document.hash}"`
  const vary = 'Accept, Accept-Encoding'
  const all = { 'content-type': 'application/json', ...headers, etag, vary }
  if (hasEtag(req.headers['if-none-match'], document.hash)) {
    res.writeHead(304, { 'cache-control': 'no-cache, private', ...headers, etag, vary })
    res.end()
    return
  }
  if (isGzip) send(res, 200, document.gzip, { ...all, 'content-encoding': 'gzip' })
  else send(res, 200, document.body, all)
}

function hasEtag(header: string | undefined, hash: string): boolean {
  if (header === undefined) return false
  return header
    .split(',')
    .map(tag => tag.trim().replace(/^W\//, ''))
    .some(tag => tag === '*' || tag === `"${hash}"` || tag === `"${hash}-gzip"`)
}

const yearMs = 365 * 24 * 60 * 60 * 1000

/**
 * Returns the caching headers of a response. If the URL contains the hash of the document, the
 * response can be cached without limit. A URL with an old hash returns the current document:
 * kube-apiserver treats a redirect of an aggregated server as an error.
 */
export function cachingOf(document: Document, hash: string | null): OutgoingHttpHeaders {
  if (hash !== document.hash) return { 'cache-control': 'no-cache, private' }
  return {
    'cache-control': 'public, immutable',
    expires: new Date(Date.now() + yearMs).toUTCString(),
  }
}
