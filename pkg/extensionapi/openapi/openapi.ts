import { methodNotAllowed, notAcceptable } from '../../apierrors/status.ts'
import type { Exchange } from '../../apirequest/request-context.ts'
import { covers, parseAccept } from '../../httpserver/request/accept-clause.ts'
import { cachingOf, createDocument, type Document, sendDocument } from '../../httpserver/response/document.ts'
import { groupVersionOf, type ServedGroup } from '../discovery/served-group.ts'
import { toSwagger } from './openapi-v2.ts'
import { toOpenApi3 } from './openapi-v3.ts'
import type { Schemas } from './schema/schema.ts'

export type OpenApi = {
  /** Returns whether the path is /openapi/v2, /openapi/v3 or /openapi/v3/apis/<group>/<version>. */
  readonly handles: (path: string) => boolean
  /** @throws Status 405, 406, 503 */
  readonly handle: (exchange: Exchange) => Promise<void>
}

const swagger = '/openapi/v2'
const index = '/openapi/v3'

/**
 * Serves the OpenAPI documents of the served groups. They are built on the first request, and again
 * when the schemas of kinds change.
 *
 * @param readSchemas returns schemas of kinds by short name; must return the same object while
 * nothing changes
 * @throws Status 503
 */
export function createOpenApi(
  groups: readonly ServedGroup[],
  readSchemas: () => Promise<Schemas>,
  title = 'Kapis',
): OpenApi {
  const handled = new Set([swagger, index, ...groups.map(served => `${index}/${keyOf(served)}`)])
  let made: { readonly from: Schemas; readonly documents: ReadonlyMap<string, Document> } | undefined

  async function documentAt(path: string): Promise<Document> {
    const from = await readSchemas()
    if (made?.from !== from) made = { from, documents: createDocuments(groups, from, title) }
    const document = made.documents.get(path)
    if (document === undefined) throw new Error(`no OpenAPI document at ${path}`)
    return document
  }

  return {
    handles: path => handled.has(path),
    async handle(exchange) {
      const { req, info, query } = exchange
      if (req.method !== 'GET') throw methodNotAllowed(['GET'])
      if (!acceptsJson(req.headers.accept)) throw notAcceptable(['application/json'])
      const document = await documentAt(info.path)
      sendDocument(exchange, document, cachingOf(document, query.get('hash')))
    },
  }
}

/**
 * Returns the documents by path. The index of version 3 lists only these groups: kube-apiserver
 * merges indexes without validation, and a key such as `version` would replace its own.
 */
function createDocuments(
  groups: readonly ServedGroup[],
  schemas: Schemas,
  title: string,
): ReadonlyMap<string, Document> {
  const versions = groups.map(served => {
    return { key: keyOf(served), document: createDocument(toOpenApi3(served, schemas, title)) }
  })
  const paths = versions.map(({ key, document }) => {
    return [key, { serverRelativeURL: `${index}/${key}?hash=${document.hash}` }]
  })
  return new Map<string, Document>([
    [swagger, createDocument(toSwagger(groups, schemas, title))],
    [index, createDocument({ paths: Object.fromEntries(paths) })],
    ...versions.map(({ key, document }) => [`${index}/${key}`, document] as const),
  ])
}

function keyOf(served: ServedGroup): string {
  return `apis/${groupVersionOf(served)}`
}

/** Reports whether the client accepts JSON. Only kube-apiserver serves Protobuf. */
function acceptsJson(accept: string | undefined): boolean {
  return parseAccept(accept || '*/*').some(clause => covers(clause, 'json'))
}
