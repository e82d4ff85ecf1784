import { toQuoted, toScalar } from '../write-scalar.ts'
import { isFields, isList, type Value } from './value.ts'

/** Writes a value on one line. Strings are quoted, so that a JSON file remains valid JSON. */
export function toFlow(value: Value): string {
  if (isList(value)) return `[${value.map(toFlow).join(', ')}]`
  if (isFields(value))
    return `{${[...value].map(([key, each]) => `${toQuoted(key)}: ${toFlow(each)}`).join(', ')}}`
  return typeof value === 'string' ? toQuoted(value) : toOther(value)
}

/** Writes a mapping or list as lines; undefined for a scalar or if it is empty. */
export function toLines(value: Value, indent = ''): readonly string[] | undefined {
  if (isList(value) && value.length > 0) return value.flatMap(item => toItem(item, indent))
  if (isFields(value) && value.size > 0)
    return [...value].flatMap(([key, each]) => toField(key, each, indent))
  return undefined
}

/** Writes `key: value`. Items of a list have the indentation of the key, as kubectl writes them. */
export function toField(key: string, value: Value, indent: string): readonly string[] {
  const start = `${indent}${toScalar(key)}:`
  const lines = toLines(value, isList(value) ? indent : `${indent}  `)
  return lines === undefined ? [`${start} ${toInline(value)}`] : [start, ...lines]
}

/** Writes `- value`. */
export function toItem(value: Value, indent: string): readonly string[] {
  const [first, ...rest] = toLines(value, `${indent}  `) ?? [`${indent}  ${toInline(value)}`]
  return [`${indent}- ${first?.slice(indent.length + 2)}`, ...rest]
}

/** Writes a value that follows its key on the same line: a scalar or an empty collection. */
export function toInline(value: Value): string {
  return typeof value === 'string' ? toScalar(value) : toFlow(value)
}

function toOther(value: boolean | null | { readonly source: string }): string {
  return value === null || typeof value === 'boolean' ? String(value) : value.source
}
