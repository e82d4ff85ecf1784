import { createHash } from 'node:crypto'
import type { OutgoingHttpHeaders } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { Exchange } from '../apirequest/request-context.ts'
import { stringifyExactly } from '../json/stringify.ts'
import { acceptsGzip, send } from './respond.ts'

/** A body that is the same for everyone and changes only with the program: serialized once, named by its digest. */
export type Document = {
  readonly body: Buffer
  readonly gzip: Buffer
  /** Upper-case SHA-512 hex, as kube-apiserver writes it. */
  readonly hash: string
}

// Below this a compressed answer is no shorter on the wire than one packet.
const minGzipBytes = 1_400

export function createDocument(value: unknown): Document {
  return createTextDocument(`${stringifyExactly(value)}\n`)
}

export function createTextDocument(text: string): Document {
  const body = Buffer.from(text)
  const hash = createHash('sha512').update(body).digest('hex').toUpperCase()
  return { body, gzip: gzipSync(body), hash }
}

/** Answers with the document, or with 304 when the caller has it already (RFC 9110 section 13.1.2). */
export function sendDocument(
  { req, res }: Pick<Exchange, 'req' | 'res'>,
  document: Document,
  headers: OutgoingHttpHeaders = {},
): void {
  const isGzip = document.body.length >= minGzipBytes && acceptsGzip(req)
  // A strong validator names the bytes, and compressed ones are others (RFC 9110 section 8.8.3.3).
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
 * A document that is asked for by its hash never changes. One that is asked for by an old hash is answered with the
 * present document all the same: kube-apiserver turns a redirect from an aggregated server into an error.
 */
export function cachingOf(document: Document, hash: string | null): OutgoingHttpHeaders {
  if (hash !== document.hash) return { 'cache-control': 'no-cache, private' }
  return {
    'cache-control': 'public, immutable',
    expires: new Date(Date.now() + yearMs).toUTCString(),
  }
}
