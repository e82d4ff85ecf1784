import { badRequest } from '../../apierrors/status.ts'
import { requireFewTerms } from './selector.ts'

/** The fields by whose hash a collection can be divided into shards. */
export type ShardField = 'object.metadata.uid' | 'object.metadata.namespace'

/** A half-open range of 64-bit hashes. */
export type ShardRange = {
  readonly field: ShardField
  readonly start: bigint
  readonly end: bigint
}

const fields: readonly ShardField[] = ['object.metadata.uid', 'object.metadata.namespace']
const endOfHashes = 2n ** 64n
const maxDepth = 32

/**
 * Parses the CEL expression of a shardSelector: one or more terms `shardRange(object.metadata.uid,
 * '0x0000000000000000', '0x8000000000000000')`, joined by `||`. Values, messages and limits are
 * those of k8s.io/apiserver/pkg/sharding (KEP-5866).
 *
 * @throws Status 400
 */
export function parseShardSelector(text: string): readonly ShardRange[] {
  const reader = createReader(text)
  const ranges = readAlternatives(reader, 0)
  if (reader.token() !== '') throw reader.unexpected('|| or the end')
  requireFewTerms(ranges.length, 'shardSelector')
  const other = ranges.find(({ field }) => field !== ranges[0]?.field)
  if (other !== undefined)
    throw problem(
      `all shard ranges must use the same field, got ${JSON.stringify(ranges[0]?.field)} and ${JSON.stringify(other.field)}`,
    )
  return ranges
}

/** Formats a selector as kube-apiserver returns it in `metadata.shardInfo`. */
export function formatShardSelector(ranges: readonly ShardRange[]): string {
  return ranges
    .map(({ field, start, end }) => `shardRange(${field}, '${toHex(start)}', '${toHex(end)}')`)
    .join(' || ')
}

/** Returns whether the hash of the object's field is in one of the ranges; true without ranges. */
export function matchesShard(
  ranges: readonly ShardRange[],
  object: { readonly uid: string; readonly namespace: string },
): boolean {
  const [first] = ranges
  if (first === undefined) return true
  const hash = fnv1a64(first.field === 'object.metadata.uid' ? object.uid : object.namespace)
  return ranges.some(({ start, end }) => start <= hash && hash < end)
}

/** Returns the 64-bit FNV-1a hash of the UTF-8 bytes (hash/fnv of Go). */
export function fnv1a64(text: string): bigint {
  // Computes two halves of 32 bits: a bigint operation per byte would be ten times slower.
  let high = 0xcbf29ce4
  let low = 0x84222325
  for (const byte of Buffer.from(text)) {
    low = (low ^ byte) >>> 0
    // The FNV prime is 2^40 + 0x1b3.
    const product = low * 0x1b3
    high = (high * 0x1b3 + Math.floor(product / 2 ** 32) + low * 2 ** 8) % 2 ** 32
    low = product % 2 ** 32
  }
  return (BigInt(high) << 32n) | BigInt(low)
}

type Reader = {
  /** Returns the current token; '' at the end. */
  readonly token: () => string
  /** Returns the current token and advances. */
  readonly next: () => string
  readonly unexpected: (expected: string) => Error
}

const tokens = /\s*(?:([A-Za-z_][\w.]*|\|\||[(),]|'[^'\\\n]*'|"[^"\\\n]*")|(\S))/y

function createReader(text: string): Reader {
  tokens.lastIndex = 0
  const found: string[] = []
  for (let match = tokens.exec(text); match !== null; match = tokens.exec(text))
    found.push(match[1] ?? match[2] ?? '')
  let at = 0
  const token = () => found[at] ?? ''
  return {
    token,
    next: () => {
      const current = token()
      at += 1
      return current
    },
    unexpected: expected =>
      problem(`unexpected ${JSON.stringify(token().slice(0, 64) || 'end')}: expected ${expected}`),
  }
}

function readAlternatives(reader: Reader, depth: number): ShardRange[] {
  if (depth > maxDepth) throw problem('too many parentheses')
  const ranges: ShardRange[] = []
  do {
    if (reader.token() === '(') {
      reader.next()
      ranges.push(...readAlternatives(reader, depth + 1))
      expect(reader, ')')
    } else ranges.push(readRange(reader))
  } while (reader.token() === '||' && reader.next() !== '')
  return ranges
}

function readRange(reader: Reader): ShardRange {
  if (reader.token() !== 'shardRange') throw reader.unexpected("shardRange(<field>, '<start>', '<end>')")
  reader.next()
  expect(reader, '(')
  const path = reader.next()
  const field = fields.find(known => known === path)
  if (field === undefined)
    throw problem(
      `unsupported field path ${JSON.stringify(path.slice(0, 64))}; supported: ${fields.join(', ')}`,
    )
  expect(reader, ',')
  const start = readHash(reader, 'hexStart')
  expect(reader, ',')
  const end = readHash(reader, 'hexEnd')
  expect(reader, ')')
  if (start >= end) throw problem(`shard range start ${toHex(start)} must be less than end ${toHex(end)}`)
  return { field, start, end }
}

function readHash(reader: Reader, name: string): bigint {
  const literal = /^(['"])(.*)\1$/.exec(reader.token())?.[2]
  if (literal === undefined) throw reader.unexpected(`${name} as a string, such as '0x8000000000000000'`)
  reader.next()
  if (/^0x[0-9a-f]{16}$/.test(literal)) return BigInt(literal)
  if (literal === toHex(endOfHashes)) return endOfHashes
  throw problem(
    `invalid ${name} ${JSON.stringify(literal.slice(0, 64))}: expected 0x and 16 lower-case hexadecimal digits, or ${toHex(endOfHashes)}`,
  )
}

function expect(reader: Reader, token: string): void {
  if (reader.token() !== token) throw reader.unexpected(JSON.stringify(token))
  reader.next()
}

function toHex(hash: bigint): string {
  return `0x${hash.toString(16).padStart(16, '0')}`
}

function problem(why: string) {
  return badRequest(`invalid shard selector: ${why}`)
}
