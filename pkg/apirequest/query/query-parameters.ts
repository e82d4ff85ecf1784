import { unescape as unescapeLossy } from 'node:querystring'
import { badRequest } from '../../apierrors/status.ts'
import { type FieldRequirement, parseFieldSelector } from '../selector/field-selector.ts'
import { type LabelRequirement, parseLabelSelector } from '../selector/label-selector.ts'
import { readSelector, type Selector } from '../selector/selector.ts'
import { parseShardSelector, type ShardRange } from '../selector/shard-selector.ts'

/**
 * The query of a request, decoded once in the same way as net/url of Go. All code reads parameters
 * from this object. `get` rejects repeated parameters, since kube-apiserver and a proxy could
 * choose different values.
 */
export class QueryParameters implements Iterable<readonly [name: string, value: string]> {
  /**
   * Why a part of the query was ignored, with the message of url.ParseQuery of Go; undefined if
   * valid.
   */
  readonly problem: string | undefined
  readonly #pairs: readonly (readonly [name: string, value: string])[]
  /** The first name that occurs more than once. */
  readonly #repeated: string | undefined
  /** The first name whose value is too long for requests that Kapis handles itself. */
  readonly #tooLong: string | undefined
  readonly #maxLength: number
  #fieldSelector: Selector<FieldRequirement> | undefined
  #labelSelector: Selector<LabelRequirement> | undefined
  #shards: readonly ShardRange[] | undefined

  /**
   * @param rawQuery the part of a URL after the question mark
   * @param maxLength maximum length of a value, for requests that Kapis handles itself
   */
  constructor(rawQuery: string, maxLength = defaultMaxLength) {
    this.#maxLength = maxLength
    const pairs: (readonly [string, string])[] = []
    const seen = new Set<string>()
    for (const text of rawQuery === '' ? [] : rawQuery.split('&')) {
      if (text === '') continue
      const problem = problemOf(text)
      this.problem ??= problem
      if (problem !== undefined && problem !== notUtf8) continue
      const equals = text.indexOf('=')
      const name = decode(equals < 0 ? text : text.slice(0, equals))
      const value = equals < 0 ? '' : decode(text.slice(equals + 1))
      pairs.push([name, value])
      if (name.length + value.length > maxLength) this.#tooLong ??= name
      const key = name.toLowerCase()
      if (seen.has(key)) this.#repeated ??= name
      seen.add(key)
    }
    this.#pairs = pairs
  }

  get size(): number {
    return this.#pairs.length
  }

  [Symbol.iterator](): Iterator<readonly [name: string, value: string]> {
    return this.#pairs.values()
  }

  /** @throws Status 400 for a repeated parameter */
  get(name: string): string | null {
    if (this.isRepeated(name)) throw repeated(name)
    return this.first(name)
  }

  /** Returns the first value of a parameter, which is the one that kube-apiserver uses. */
  first(name: string): string | null {
    return this.#pairs.find(([key]) => key === name)?.[1] ?? null
  }

  /** Returns whether kube-apiserver parses a parameter as true: all but `0` and `false`. */
  isTrue(name: string): boolean {
    const value = this.first(name)?.toLowerCase()
    return value !== undefined && value !== 'false' && value !== '0'
  }

  getAll(name: string): readonly string[] {
    return this.#pairs.filter(([key]) => key === name).map(([, value]) => value)
  }

  has(name: string): boolean {
    return this.#pairs.some(([key]) => key === name)
  }

  /** Reports whether a parameter is repeated. Ignores case, like some parsers of queries. */
  isRepeated(name: string): boolean {
    if (this.#repeated === undefined) return false
    const lowerName = name.toLowerCase()
    let isGiven = false
    for (const [key] of this.#pairs) {
      if (key.length !== name.length || key.toLowerCase() !== lowerName) continue
      if (isGiven) return true
      isGiven = true
    }
    return false
  }

  /** @throws Status 400 for a repeated parameter, or an invalid part */
  rejectAmbiguous(): void {
    this.#rejectUnreadable()
    if (this.#repeated !== undefined) throw repeated(this.#repeated)
  }

  /** Like `rejectAmbiguous`, but allows repeated parameters that do not affect authorization. */
  rejectAmbiguousSelection(): void {
    this.#rejectUnreadable()
    for (const name of deciding) if (this.isRepeated(name)) throw repeated(name)
  }

  #rejectUnreadable(): void {
    if (this.problem !== undefined) throw badRequest(this.problem)
    if (this.#tooLong !== undefined) throw tooLong(this.#tooLong, this.#maxLength)
  }

  /** Requirements of the field selector, as kube-apiserver parses it. */
  get fieldSelector(): Selector<FieldRequirement> {
    this.#fieldSelector ??= readSelector(this.first('fieldSelector') ?? '', text => parseFieldSelector(text))
    return this.#fieldSelector
  }

  /** Requirements on the table columns, such as `Status=Running`. */
  get columnSelector(): Selector<FieldRequirement> {
    return readSelector(this.get('columnSelector') ?? '', text => parseFieldSelector(text, 'columnSelector'))
  }

  get labelSelector(): Selector<LabelRequirement> {
    this.#labelSelector ??= readSelector(this.first('labelSelector') ?? '', text => parseLabelSelector(text))
    return this.#labelSelector
  }

  /** The ranges of the shardSelector; empty without one. @throws Status 400 */
  get shards(): readonly ShardRange[] {
    if (this.#shards === undefined) {
      const text = this.get('shardSelector') ?? ''
      this.#shards = text === '' ? [] : parseShardSelector(text)
    }
    return this.#shards
  }
}

const defaultMaxLength = 8 * 1024
const deciding = ['fieldSelector', 'labelSelector', 'watch']
const notUtf8 = 'the query contains percent-encoded bytes that are not UTF-8'

function problemOf(pair: string): string | undefined {
  if (pair.includes(';')) return 'the query contains a ";" that must be percent-encoded'
  if (!pair.includes('%')) return undefined
  if (/%(?![0-9A-Fa-f]{2})/.test(pair)) return 'the query contains an invalid percent-encoding'
  try {
    decodeURIComponent(pair)
    return undefined
  } catch {
    return notUtf8
  }
}

function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  return spaced.includes('%') ? unescapeLossy(spaced) : spaced
}

function tooLong(name: string, maxLength: number) {
  return badRequest(
    `the query parameter ${JSON.stringify(name.slice(0, 100))} is longer than the ${maxLength} characters that are allowed`,
  )
}

function repeated(name: string) {
  return badRequest(`${name.slice(0, 100)} is given more than once`)
}
