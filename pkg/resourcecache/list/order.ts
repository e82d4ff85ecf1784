import { badRequest } from '../../apierrors/status.ts'
import { parseJsonPath } from '../../apirequest/query/json-path.ts'
import { splitSortKeys } from '../../apirequest/query/list-query.ts'
import { decodeString } from '../../json/scan.ts'
import { type Amount, compareAmounts, parseAmount } from '../decorate/amount.ts'
import type { CachedObject } from '../store/cached-object.ts'
import { createFieldExtractor } from '../store/field-extractor.ts'
import type { Compare } from '../store/sorted-index.ts'

/** A sort order, identified by `key`; `compare` uses what `rank` extracts and caches. */
export type Order = {
  readonly key: string
  readonly compare: Compare
  readonly rank?: (entry: CachedObject) => unknown
}

/** The order of kube-apiserver: by namespace, then by name. */
export const byKey: Compare = (a, b) => compareText(a.key, b.key)

/** The order by a single key, which can also compare values without the tie-break. */
type PlainOrder = Order & { readonly compareValues: Compare }

// RFC 3339 times in UTC with whole seconds can be compared as text.
const byCreation = by('createTime', entry => entry.meta.creationTimestamp)
const byUpdate = by('updateTime', entry => entry.updated)

/** Sort keys (`sortBy`) of all kinds in the platform API, some of which are aliases. */
const orders: Readonly<Record<string, PlainOrder>> = {
  name: by('name', entry => entry.name),
  namespace: by('namespace', entry => entry.namespace),
  createTime: byCreation,
  creationTimestamp: byCreation,
  updateTime: byUpdate,
  lastUpdateTimestamp: byUpdate,
  status: by('status', entry => entry.fields.status),
}

export const sortKeys: readonly string[] = Object.keys(orders)

// Maximum number of sort keys of a list.
const maxKeys = 4

/** Separates the keys that `toOrder` supports from unknown ones, and from those above its limit. */
export function classifySortKeys(sortBy: string): {
  readonly supported: readonly string[]
  readonly unknown: readonly string[]
  readonly excess: readonly string[]
} {
  const keys = splitSortKeys(sortBy)
  const isKnown = (key: string) => isPlainKey(withoutSign(key))
  const known = keys.filter(isKnown)
  return {
    supported: known.slice(0, maxKeys),
    unknown: keys.filter(key => !isKnown(key)),
    excess: known.slice(maxKeys),
  }
}

function isPlainKey(key: string): boolean {
  return sortKeys.includes(key) || /^[.{$]/.test(key)
}

function withoutSign(key: string): string {
  return key.startsWith('-') ? key.slice(1) : key
}

/**
 * Returns the order for `sortBy`: one of the keys above, a path such as `.status.capacity.cpu`, or
 * several of these, such as `status,-name`. Ties are broken by namespace and name, so that the
 * order is total and stable.
 *
 * @throws Status 400 with the supported keys
 */
export function toOrder(sortBy: string): Order {
  const keys = splitSortKeys(sortBy)
  if (keys.length > maxKeys) throw badRequest(`sortBy accepts at most ${maxKeys} keys, not ${keys.length}`)
  const [only] = keys
  if (only !== undefined && keys.length === 1 && !only.startsWith('-')) return toPlainOrder(only)
  const parts = keys.map(key => {
    const order = toPlainOrder(withoutSign(key))
    return { ...order, sign: key.startsWith('-') ? -1 : 1 }
  })
  const ranks = parts.flatMap(({ rank }) => rank ?? [])
  return {
    key: JSON.stringify(parts.map(({ key, sign }) => [key, sign])),
    compare(a, b) {
      for (const { compareValues, sign } of parts) {
        const difference = sign * compareValues(a, b)
        if (difference !== 0) return difference
      }
      return byKey(a, b)
    },
    ...(ranks.length > 0 ? { rank: (entry: CachedObject) => ranks.map(rank => rank(entry)) } : {}),
  }
}

function toPlainOrder(sortBy: string): PlainOrder {
  const known = Object.hasOwn(orders, sortBy) ? orders[sortBy] : undefined
  if (known !== undefined) return known
  if (!isPlainKey(sortBy))
    throw badRequest(
      `sortBy must be one of ${sortKeys.join(', ')}, or a path such as .spec.nodeName, not ${JSON.stringify(sortBy)}`,
    )
  const path = parseJsonPath(sortBy, 'sortBy')
  const rank = createFieldExtractor([path], ([value]) => toRank(value))
  return {
    ...orderOf(`path ${JSON.stringify(path)}`, (a, b) => compareRanks(rank(a), rank(b))),
    rank,
  }
}

/** @param compareValues compares without the tie-break */
function orderOf(key: string, compareValues: Compare): PlainOrder {
  return { key, compareValues, compare: (a, b) => compareValues(a, b) || byKey(a, b) }
}

function by(key: string, read: (entry: CachedObject) => string): PlainOrder {
  return orderOf(key, (a, b) => compareText(read(a), read(b)))
}

/** The sort value of an object: missing values come first, then quantities, then text. */
type Rank = { readonly typeRank: 0 | 1 | 2; readonly amount: Amount; readonly text: string }

// Text is sorted by this many characters. Otherwise a hundred orders of objects with megabytes of
// text would require too much memory.
const maxTextLength = 256
const none: Amount = { sign: 0, point: 0, digits: '' }

/** @param source the value as JSON text */
function toRank(source: string | undefined): Rank {
  if (source === undefined || source === 'null') return { typeRank: 0, amount: none, text: '' }
  const text = source.startsWith('"') ? decodeString(source, 0, source.length) : source
  const amount = parseAmount(text)
  if (amount !== undefined) return { typeRank: 1, amount, text: '' }
  // A copy, since a substring keeps the whole text in memory.
  return { typeRank: 2, amount: none, text: Buffer.from(text.slice(0, maxTextLength)).toString() }
}

function compareRanks(a: Rank, b: Rank): number {
  return a.typeRank - b.typeRank || compareAmounts(a.amount, b.amount) || compareText(a.text, b.text)
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
