import { formatJson, parseExactJson, quoteNonNumbers } from '../../field-values.ts'
import { copyText } from '../copy-text.ts'
import { createRowTest } from '../match-row.ts'
import { evaluate } from '../math.ts'
import { formatNumber } from '../numbers.ts'
import { extract, quotedAt } from '../pattern.ts'
import type { Filter, OverwriteMode, Pipe } from '../query.ts'
import type { Row } from '../row.ts'
import { formatPattern } from './format-pattern.ts'
import { createNameTest, type Stage, setField } from './stage.ts'

type PipeOf<Kind extends Pipe['kind']> = Extract<Pipe, { readonly kind: Kind }>

/** Creates a stage that changes each row independently of others, or drops it. */
export function createRowStage(change: (row: Row) => Row | undefined, next: Stage): Stage {
  return {
    push: row => {
      const changed = change(row)
      return changed === undefined || next.push(changed)
    },
    end: next.end,
  }
}

export function keepFields({ fields }: PipeOf<'fields'>): (row: Row) => Row {
  if (fields.includes('*')) return row => row
  const isPlain = fields.every(field => !field.endsWith('*'))
  const isKept = createNameTest(fields)
  return row => {
    const kept: Row = new Map()
    if (isPlain) {
      for (const field of fields) setField(kept, field, row.get(field) ?? '')
    } else for (const [name, value] of row) if (isKept(name)) kept.set(name, value)
    return kept
  }
}

export function passFilter({ filter }: PipeOf<'filter'>): (row: Row) => Row | undefined {
  const passes = createRowTest(filter)
  return row => (passes(row) ? row : undefined)
}

export function addLength({ field, result }: PipeOf<'len'>): (row: Row) => Row {
  return row => row.set(result, String(Buffer.byteLength(row.get(field) ?? '')))
}

export function addMath({ entries }: PipeOf<'math'>): (row: Row) => Row {
  return row => {
    for (const { result, expression } of entries)
      row.set(result, formatNumber(evaluate(expression, field => row.get(field) ?? '')))
    return row
  }
}

/** Returns a function that applies a change to the rows that meet an optional condition. */
function onlyIf(condition: Filter | undefined, change: (row: Row) => void): (row: Row) => Row {
  const passes = condition === undefined ? () => true : createRowTest(condition)
  return row => {
    if (passes(row)) change(row)
    return row
  }
}

function write(row: Row, field: string, value: string, { keepOriginal, skipEmpty }: OverwriteMode): void {
  if ((keepOriginal && row.has(field)) || (skipEmpty && value === '')) return
  setField(row, copyText(field), copyText(value))
}

export function addFormat(pipe: PipeOf<'format'>): (row: Row) => Row {
  return onlyIf(pipe.condition, row => write(row, pipe.result, formatPattern(pipe.steps, row), pipe))
}

export function addExtracted(pipe: PipeOf<'extract'>): (row: Row) => Row {
  return onlyIf(pipe.condition, row => {
    const found = extract(pipe.steps, row.get(pipe.from) ?? '')
    for (const [field, value] of found) write(row, field, value, pipe)
  })
}

export function addUnpacked(pipe: PipeOf<'unpack'>): (row: Row) => Row {
  const { condition, format, from, fields, preserveKeys, resultPrefix } = pipe
  const isSelected = createNameTest(fields)
  const named = fields.filter(field => !field.endsWith('*'))
  const keys = new Set(preserveKeys)
  return onlyIf(condition, row => {
    const text = row.get(from) ?? ''
    const found = format === 'json' ? readJson(text, keys) : readLogfmt(text)
    // A requested field that the object lacks becomes empty.
    for (const field of named) if (!found.has(field)) write(row, resultPrefix + field, '', pipe)
    for (const [field, value] of found) if (isSelected(field)) write(row, resultPrefix + field, value, pipe)
  })
}

const maxUnpacked = 1000
const maxDepth = 32
// Maximum length of a flattened name. Values below a longer name remain JSON.
const maxName = 1024

/** Parses a JSON object to fields with dots between levels; other texts have none. */
function readJson(text: string, preserved: ReadonlySet<string>): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  if (!text.trimStart().startsWith('{')) return found
  const parsed = parseObject(text)
  if (parsed !== undefined) flatten(parsed, '', 0, { found, preserved })
  return found
}

/** Parses JSON that may contain NaN and Infinity; undefined if it is invalid. */
function parseObject(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch {
    const quoted = quoteNonNumbers(text)
    return quoted === text ? undefined : parseObject(quoted)
  }
}

function flatten(
  value: unknown,
  name: string,
  depth: number,
  into: { readonly found: Map<string, string>; readonly preserved: ReadonlySet<string> },
): void {
  const { found, preserved } = into
  if (found.size >= maxUnpacked) return
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isObject || depth > maxDepth || name.length > maxName || preserved.has(name)) {
    found.set(name, textOf(value))
    return
  }
  for (const [key, member] of Object.entries(value))
    flatten(member, name === '' ? key : `${name}.${key}`, depth + 1, into)
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return value === null ? '' : formatJson(value)
}

/** Parses `name=value` pairs, separated by spaces. Values may be quoted. */
function readLogfmt(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const add = (name: string, value: string) => {
    if (name !== '' && found.size < maxUnpacked) found.set(name, value)
  }
  let at = 0
  while (at < text.length) {
    const name = nameAt(text, at)
    at += name.length
    if (text[at] !== '=') {
      add(name, '')
      at += 1
      continue
    }
    at += 1
    const quoted = quotedAt(text, at)
    const blank = text.indexOf(' ', at)
    const end = quoted?.end ?? (blank === -1 ? text.length : blank)
    add(name, quoted?.value ?? text.slice(at, end))
    if (end < text.length && text[end] !== ' ') break
    at = end + 1
  }
  return found
}

const namePattern = /[^= ]*/y

function nameAt(text: string, at: number): string {
  namePattern.lastIndex = at
  return namePattern.exec(text)?.[0] ?? ''
}
