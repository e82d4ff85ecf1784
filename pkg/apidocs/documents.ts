import { methodNotAllowed } from '../apierrors/status.ts'
import type { Exchange } from '../apirequest/request-context.ts'
import { cachingOf, createDocument, type Document, sendDocument } from '../httpserver/response/document.ts'
import { isRecord } from '../kubeclient/object/object.ts'
import { type DescribedSection, toOpenApi } from '../openapi/document.ts'

export type ApiDocument = {
  readonly handles: (path: string) => boolean
  /** @throws Status 405, 503 */
  readonly handle: (exchange: Exchange) => Promise<void> | void
}

export type ApiDocumentsOptions = {
  readonly sections: readonly DescribedSection[]
  readonly version: string
  /** Returns kube-apiserver's index `{paths: {<key>: {serverRelativeURL}}}`. @throws Status 503 */
  readonly readIndex: () => Promise<unknown>
}

const root = '/openapi/v3'

/** Returns whether a path below /openapi/v3 is a document of Kapis and not of kube-apiserver. */
export function isOwnDocument(path: string): boolean {
  if (path === root) return true
  return ['kapis', 'oauth'].some(key => path === `${root}/${key}` || path.startsWith(`${root}/${key}/`))
}

/**
 * Serves the OpenAPI documents of Kapis and the index /openapi/v3, which also lists those of
 * kube-apiserver. Each URL contains the hash of its document, so responses can be cached without
 * limit.
 */
export function createApiDocuments({ sections, version, readIndex }: ApiDocumentsOptions): ApiDocument {
  const documents = new Map<string, Document>(
    sections.map(section => [`${root}/${section.key}`, createDocument(toOpenApi(section, version))]),
  )
  const own = Object.fromEntries(
    sections.map(({ key }) => {
      const path = `${root}/${key}`
      return [key, { serverRelativeURL: `${path}?hash=${documents.get(path)?.hash}` }]
    }),
  )
  return {
    handles: path => path === root || documents.has(path),
    async handle(exchange) {
      const { req, info, query } = exchange
      if (req.method !== 'GET' && req.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
      const document = documents.get(info.path)
      if (document !== undefined)
        return sendDocument(exchange, document, cachingOf(document, query.get('hash')))
      const index = await readIndex()
      const paths = isRecord(index) && isRecord(index.paths) ? index.paths : {}
      sendDocument(exchange, createDocument({ paths: { ...paths, ...own } }), {
        'cache-control': 'no-cache, private',
      })
    },
  }
}
