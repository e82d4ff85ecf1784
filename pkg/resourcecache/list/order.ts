import { badRequest } from '../../apierrors/status.ts'
import { parseJsonPath } from '../../apirequest/json-path.ts'
import { decodeString } from '../../json/scan.ts'
import { type Amount, compareAmounts, parseAmount } from '../decorate/amount.ts'
import type { Entry } from '../store/cached-object.ts'
import { createReading } from '../store/field-extractor.ts'
import type { Compare } from '../store/sorted-index.ts'

/**
 * A sort order; `key` identifies it, and `rank` extracts from an object what `compare` needs, with
 * a cache.
 */
export type Order = {
  readonly key: string
  readonly compare: Compare
  readonly rank?: (entry: Entry) => unknown
}

/** The order of keys, which is kube-apiserver's own: namespace, then name. */
export const byKey: Compare = (a, b) => compareText(a.key, b.key)

// RFC 3339 in UTC with whole seconds sorts as text.
const byCreation = by(entry => entry.meta.creationTimestamp)
const byUpdate = by(entry => entry.updated)

/** Sort keys (`sortBy`) of all kinds in the platform API; some are aliases. */
const orders: Readonly<Record<string, Order>> = {
  name: { key: 'name', compare: by(entry => entry.name) },
  createTime: { key: 'createTime', compare: byCreation },
  creationTimestamp: { key: 'createTime', compare: byCreation },
  updateTime: { key: 'updateTime', compare: byUpdate },
  lastUpdateTimestamp: { key: 'updateTime', compare: byUpdate },
  status: { key: 'status', compare: by(entry => entry.facts.status) },
}

export const sortKeys: readonly string[] = Object.keys(orders)

/** Whether `toOrder` takes it for a key or a path. */
export function isSortKey(sortBy: string): boolean {
  return sortKeys.includes(sortBy) || /^[.{$]/.test(sortBy)
}

/**
 * Returns the order for `sortBy`: one of the keys above, or a path such as `.status.capacity.cpu`.
 * Ties are broken by namespace and name, so that the order is total and stable.
 *
 * @throws Status 400 with the supported keys
 */
export function toOrder(sortBy: string): Order {
  const known = Object.hasOwn(orders, sortBy) ? orders[sortBy] : undefined
  if (known !== undefined) return known
  if (!isSortKey(sortBy))
    throw badRequest(
      `sortBy must be one of ${sortKeys.join(', ')}, or a path such as .spec.nodeName, not ${JSON.stringify(sortBy)}`,
    )
  const path = parseJsonPath(sortBy, 'sortBy')
  const rank = createReading([path], ([value]) => toRank(value))
  return {
    key: `path ${JSON.stringify(path)}`,
    compare: (a, b) => compareRanks(rank(a), rank(b)) || byKey(a, b),
    rank,
  }
}

function by(read: (entry: Entry) => string): Compare {
  return (a, b) => compareText(read(a), read(b)) || byKey(a, b)
}

/** What is missing comes first, then amounts, then text. */
type Rank = { readonly place: 0 | 1 | 2; readonly amount: Amount; readonly text: string }

// Number of characters that text is sorted by; there may be a hundred orders of objects with
// megabytes of text.
const maxTextLength = 256
const none: Amount = { sign: 0, point: 0, digits: '' }

/** @param source the value as JSON */
function toRank(source: string | undefined): Rank {
  if (source === undefined || source === 'null') return { place: 0, amount: none, text: '' }
  const text = source.startsWith('"') ? decodeString(source, 0, source.length) : source
  const amount = parseAmount(text)
  if (amount !== undefined) return { place: 1, amount, text: '' }
  // Copied: a part of a text keeps the whole of it in memory.
  return { place: 2, amount: none, text: Buffer.from(text.slice(0, maxTextLength)).toString() }
}

function compareRanks(a: Rank, b: Rank): number {
  return a.place - b.place || compareAmounts(a.amount, b.amount) || compareText(a.text, b.text)
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
