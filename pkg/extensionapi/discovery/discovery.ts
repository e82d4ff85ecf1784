import { methodNotAllowed, notAcceptable } from '../../apierrors/status.ts'
import type { Exchange } from '../../apirequest/request-context.ts'
import { type Clause, covers, parseAccept } from '../../httpserver/request/accept-clause.ts'
import { createDocument, type Document, sendDocument } from '../../httpserver/response/document.ts'
import { send } from '../../httpserver/response/respond.ts'
import { type Encoding, reencode, toEncoding } from '../read/encoding.ts'
import {
  byGroup,
  type DiscoveryVersion,
  toAggregatedList,
  toGroup,
  toGroupList,
  toResourceList,
} from './discovery-documents.ts'
import { groupVersionOf, type ServedGroup } from './served-group.ts'

export type Discovery = {
  /** Returns whether the path is a discovery document, ignoring a trailing slash. */
  readonly handles: (path: string) => boolean
  /** @throws Status 405, 406 */
  readonly handle: (exchange: Exchange) => void
}

type Choice = DiscoveryVersion | Encoding
const mediaTypes = ['application/json', 'application/yaml']

/**
 * Serves the discovery documents: /apis (plain, or aggregated if the Accept header requests it),
 * /apis/<group> and /apis/<group>/<version>. If /apis fails, kube-apiserver marks the server as
 * stale, which blocks the deletion of namespaces in the whole cluster; so all documents are built
 * once and served from memory.
 */
export function createDiscovery(groups: readonly ServedGroup[]): Discovery {
  const legacy = new Map<string, Buffer>([['/apis', toBody(toGroupList(groups))]])
  for (const [name, versions] of byGroup(groups)) legacy.set(`/apis/${name}`, toBody(toGroup(name, versions)))
  for (const served of groups) legacy.set(`/apis/${groupVersionOf(served)}`, toBody(toResourceList(served)))
  const aggregated: Readonly<Record<DiscoveryVersion, Document>> = {
    v2: createDocument(toAggregatedList(groups, 'v2')),
    v2beta1: createDocument(toAggregatedList(groups, 'v2beta1')),
  }

  return {
    handles: path => legacy.has(trimSlash(path)),
    handle(exchange) {
      const { req, res, info } = exchange
      if (req.method !== 'GET') throw methodNotAllowed(['GET'])
      const path = trimSlash(info.path)
      const choice = choose(exchange, path === '/apis')
      if (choice === 'v2' || choice === 'v2beta1') {
        // The response must repeat these parameters, or clients parse it as the plain document.
        const contentType = `application/json;g=apidiscovery.k8s.io;v=${choice};as=APIGroupDiscoveryList`
        const headers = { 'content-type': contentType, 'cache-control': 'public' }
        return sendDocument(exchange, aggregated[choice], headers)
      }
      const body = legacy.get(path) ?? Buffer.alloc(0)
      const contentType = choice === 'yaml' ? 'application/yaml' : 'application/json'
      const vary = path === '/apis' ? { vary: 'Accept' } : {}
      send(res, 200, reencode(body, choice), { 'content-type': contentType, ...vary })
    },
  }
}

function choose({ req, query }: Exchange, isRoot: boolean): Choice {
  for (const clause of parseAccept(req.headers.accept || '*/*')) {
    const media = covers(clause, 'json') ? 'json' : covers(clause, 'yaml') ? 'yaml' : undefined
    if (media === undefined) continue
    const { parameters } = clause
    if (!['as', 'g', 'v'].some(name => parameters.has(name))) {
      const pretty = parameters.get('pretty') === '1'
      return toEncoding({ media, as: 'object', version: 'v1', pretty }, req, query)
    }
    const version = aggregatedVersion(clause)
    if (isRoot && media === 'json' && version !== undefined) return version
  }
  throw notAcceptable(mediaTypes)
}

/**
 * Returns the version that a clause of Accept selects. Other parameters, such as `profile` of
 * Kubernetes 1.36, are ignored: there are no peers to merge.
 */
function aggregatedVersion({ parameters }: Clause): DiscoveryVersion | undefined {
  if (parameters.get('as') !== 'APIGroupDiscoveryList') return undefined
  if (parameters.get('g') !== 'apidiscovery.k8s.io') return undefined
  const version = parameters.get('v')
  return version === 'v2' || version === 'v2beta1' ? version : undefined
}

function toBody(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`)
}

function trimSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}
