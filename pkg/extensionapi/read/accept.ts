import { notAcceptable, Status } from '../../apierrors/status.ts'
import { type BoundedCache, createBoundedCache } from '../../cache/bounded-cache.ts'
import { type Clause, covers, parseAccept } from '../../httpserver/request/accept-clause.ts'

/** The type of response that a read produces. */
export type AcceptTarget = 'object' | 'list' | 'watch'

/** The negotiated representation of the response. */
export type NegotiatedMediaType = {
  readonly media: 'json' | 'yaml'
  readonly as: 'object' | 'table' | 'partial' | 'partialList'
  /** Version of meta.k8s.io for a Table or PartialObjectMetadata. */
  readonly version: 'v1' | 'v1beta1'
  /** Whether the clause has `pretty=1`; the caller evaluates query and user agent. */
  readonly pretty: boolean
}

const mediaTypes = ['application/json', 'application/yaml']
// YAML has no framing for watch events, so kube-apiserver does not stream it either.
const streamTypes = ['application/json;stream=watch']

const plain: NegotiatedMediaType = { media: 'json', as: 'object', version: 'v1', pretty: false }

// Results are cached: clients send few headers, and parsing costs more than a response.
const createResponders = () =>
  createBoundedCache<NegotiatedMediaType | Status>({ maxBytes: 256 * 1024, sizeOf: () => 500 })
const remembered: Readonly<Record<AcceptTarget, BoundedCache<NegotiatedMediaType | Status>>> = {
  object: createResponders(),
  list: createResponders(),
  watch: createResponders(),
}

/**
 * Negotiates the representation of a response: the first clause whose media type and conversion are
 * supported.
 *
 * @param accept the Accept header
 * @throws Status 406
 */
export function negotiate(accept: string | undefined, target: AcceptTarget): NegotiatedMediaType {
  if (accept === undefined || accept === '') return plain
  const known = remembered[target]
  let chosen = known.get(accept)
  if (chosen === undefined) {
    chosen = choose(accept, target)
    known.set(accept, chosen)
  }
  if (!(chosen instanceof Status)) return chosen
  // A copy, since a cached error would have the stack trace of another request.
  throw new Status(chosen.code, chosen.reason, chosen.message)
}

function choose(accept: string, target: AcceptTarget): NegotiatedMediaType | Status {
  for (const clause of parseAccept(accept)) {
    const media = mediaOf(clause, target)
    const conversion = conversionOf(clause)
    if (media === undefined || conversion === undefined) continue
    const pretty = clause.parameters.get('pretty') === '1'
    return unsupported(conversion.as, target) ?? { media, ...conversion, pretty }
  }
  return notAcceptable(target === 'watch' ? streamTypes : mediaTypes)
}

function mediaOf(clause: Clause, target: AcceptTarget): NegotiatedMediaType['media'] | undefined {
  const stream = clause.parameters.get('stream') ?? ''
  if (stream !== '' && stream !== 'watch') return undefined
  if (covers(clause, 'json')) return 'json'
  return target !== 'watch' && covers(clause, 'yaml') ? 'yaml' : undefined
}

const conversions: ReadonlyMap<string, NegotiatedMediaType['as']> = new Map([
  ['Table', 'table'],
  ['PartialObjectMetadata', 'partial'],
  ['PartialObjectMetadataList', 'partialList'],
])

/** Returns the conversion of a clause; undefined if the next clause is to be tried. */
function conversionOf({ parameters }: Clause): Pick<NegotiatedMediaType, 'as' | 'version'> | undefined {
  if (!['as', 'g', 'v'].some(name => parameters.has(name))) return { as: 'object', version: 'v1' }
  const as = conversions.get(parameters.get('as') ?? '')
  const version = parameters.get('v')
  if (as === undefined || parameters.get('g') !== 'meta.k8s.io') return undefined
  return version === 'v1' || version === 'v1beta1' ? { as, version } : undefined
}

/**
 * Returns an error for a known conversion that does not fit the target (list or object). As in
 * kube-apiserver, it ends the negotiation.
 */
function unsupported(as: NegotiatedMediaType['as'], target: AcceptTarget): Status | undefined {
  if (as === 'partial' && target === 'list') {
    return mismatch('you requested PartialObjectMetadata, but the requested object is a list')
  }
  if (as === 'partialList' && target !== 'list') {
    return mismatch('you requested PartialObjectMetadataList, but the requested object is not a list')
  }
  return undefined
}

function mismatch(message: string): Status {
  return new Status(406, 'NotAcceptable', message)
}
