import type { IncomingMessage } from 'node:http'
import { methodNotAllowed } from '../../../apierrors/status.ts'

// Clients and log shippers of versions 7, 8 and 9 accept this server version.
const number = '8.19.0'
const cluster_name = 'kapis'

const product = {
  name: 'kapis',
  cluster_name,
  cluster_uuid: '_na_',
  version: {
    number,
    build_flavor: 'default',
    build_type: 'docker',
    build_snapshot: false,
    minimum_wire_compatibility_version: '7.17.0',
    minimum_index_compatibility_version: '7.0.0',
  },
  tagline: 'You Know, for Search',
}
const license = { status: 'active', type: 'basic', mode: 'basic' }
const health = {
  ...{ cluster_name, status: 'green', timed_out: false, number_of_nodes: 1, number_of_data_nodes: 1 },
  ...{ active_primary_shards: 1, active_shards: 1, relocating_shards: 0, initializing_shards: 0 },
  ...{ unassigned_shards: 0, active_shards_percent_as_number: 100 },
}
const shards = { _shards: { total: 1, successful: 1, failed: 0 } }
// An empty list of nodes: clients that discover nodes then keep the address of Kapis.
const nodes = { _nodes: { total: 0, successful: 0, failed: 0 }, cluster_name, nodes: {} }

const read = ['GET', 'HEAD']
const state: Readonly<Record<string, object>> = {
  '': product,
  _license: { license },
  _xpack: { license, features: {} },
  _nodes: nodes,
  _cluster: health,
  _cat: [],
}
// Log shippers set up indices and templates; Kapis confirms these requests and ignores them.
const settings = new Set([
  ...['_ilm', '_index_template', '_template', '_component_template', '_ingest', '_logstash'],
  ...['_alias', '_aliases', '_data_stream', '_mapping', '_settings'],
])
const changes = new Set(['PUT', 'POST', 'DELETE'])

/**
 * Responds to the requests that clients of Elasticsearch, Beats, Logstash, Vector and the exporter
 * of OpenTelemetry send before the first batch.
 *
 * @param parts segments of the path below the root
 * @returns undefined for any other path
 * @throws Status 405
 */
export function responseToClient(parts: readonly string[], method: string): object | undefined {
  const [first = '', ...rest] = parts
  const known = Object.hasOwn(state, first) ? state[first] : undefined
  if (known !== undefined) {
    if (!read.includes(method)) throw methodNotAllowed(read)
    return known
  }
  if (first === '_refresh' || first === '_flush') return rest.length === 0 ? shards : undefined
  if (settings.has(first)) return changes.has(method) ? { acknowledged: true } : {}
  if (first.startsWith('_') && first !== '_all') return undefined
  // Paths of an index have the form /<index>[/<API>].
  const [own] = rest
  if (own === undefined) {
    // A shipper with a wrong path must not take this for the response to its lines.
    if (method === 'POST') throw methodNotAllowed([...read, 'PUT', 'DELETE'])
    return changes.has(method) ? { acknowledged: true, index: first } : {}
  }
  return own.startsWith('_') && !Object.hasOwn(state, own) ? responseToClient(rest, method) : undefined
}

/** Returns the media type that the client expects, versioned since version 8. */
export function contentTypeOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const version = /application\/vnd\.elasticsearch\+json\s*;\s*compatible-with=([789])/.exec(
    headers.accept ?? '',
  )?.[1]
  return version === undefined
    ? 'application/json'
    : `application/vnd.elasticsearch+json;compatible-with=${version}`
}
