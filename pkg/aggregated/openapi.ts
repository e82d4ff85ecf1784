import { cachingOf, createDocument, type Document, sendDocument } from '../request/document.ts'
import type { Exchange } from '../request/exchange.ts'
import { methodNotAllowed, notAcceptable } from '../status/status.ts'
import { covers, parseAccept } from './accept-clause.ts'
import { toSwagger } from './openapi-v2.ts'
import { toOpenApi3 } from './openapi-v3.ts'
import { groupVersionOf, type ServedGroup } from './served-group.ts'

export type OpenApi = {
  /** Whether the path is one of the documents: /openapi/v2, /openapi/v3, /openapi/v3/apis/<group>/<version>. */
  readonly handles: (path: string) => boolean
  /** @throws Status 405, 406 */
  readonly handle: (exchange: Exchange) => void
}

const index = '/openapi/v3'

/**
 * The OpenAPI documents of the served groups, made once. The index of version 3 lists them and nothing else:
 * kube-apiserver merges indexes blindly, and a key such as `version` would take the place of its own.
 */
export function createOpenApi(groups: readonly ServedGroup[], title = 'Kapis'): OpenApi {
  const versions = groups.map(served => {
    const document = createDocument(toOpenApi3(served, title))
    return { key: `apis/${groupVersionOf(served)}`, document }
  })
  const paths = versions.map(({ key, document }) => {
    return [key, { serverRelativeURL: `${index}/${key}?hash=${document.hash}` }]
  })
  const documents = new Map<string, Document>([
    ['/openapi/v2', createDocument(toSwagger(groups, title))],
    [index, createDocument({ paths: Object.fromEntries(paths) })],
    ...versions.map(({ key, document }) => [`${index}/${key}`, document] as const),
  ])

  return {
    handles: path => documents.has(path),
    handle(exchange) {
      const { req, info, query } = exchange
      const document = documents.get(info.path)
      if (document === undefined) throw new Error(`no OpenAPI document at ${info.path}`)
      if (req.method !== 'GET') throw methodNotAllowed(['GET'])
      if (!acceptsJson(req.headers.accept)) throw notAcceptable(['application/json'])
      sendDocument(exchange, document, cachingOf(document, query.get('hash')))
    },
  }
}

/** Protobuf is refused: nothing but kube-apiserver itself is asked for it. */
function acceptsJson(accept: string | undefined): boolean {
  return parseAccept(accept || '*/*').some(clause => covers(clause, 'json'))
}
