import type { Problem } from './problem.ts'

/** A configuration object being read: hands out members by type and collects every problem instead of stopping. */
export type Fields = {
  readonly value: (key: string) => unknown
  readonly problem: (key: string, message: string) => void
  readonly object: (key: string, known: readonly string[]) => Fields
  readonly list: (key: string, known: readonly string[]) => readonly Fields[] | undefined
  readonly boolean: (key: string, fallback: boolean) => boolean
  readonly choice: <T extends string>(key: string, allowed: readonly [T, ...T[]]) => T
}

/** Reads `input` as an object with no members but `known`; `path` is '' for the whole document. */
export function object(input: unknown, path: string, problems: Problem[], known: readonly string[]): Fields {
  const at = (key: string) => (path === '' ? key : `${path}.${key}`)
  const record = toRecord(input)
  if (record === undefined) problems.push({ path: path || '(document)', message: 'must be a mapping' })
  const members = record ?? {}
  for (const key of Object.keys(members)) {
    if (!known.includes(key))
      problems.push({ path: at(key), message: `unknown; supported: ${known.join(', ')}` })
  }
  const problem = (key: string, message: string) => void problems.push({ path: at(key), message })
  const value = (key: string) => members[key] ?? undefined
  return {
    value,
    problem,
    object: (key, inner) => object(value(key) ?? {}, at(key), problems, inner),
    list(key, inner) {
      const items = value(key)
      if (items === undefined) return undefined
      if (!Array.isArray(items)) {
        problem(key, 'must be a list')
        return []
      }
      return items.map((item, i) => object(item, `${at(key)}[${i}]`, problems, inner))
    },
    boolean(key, fallback) {
      const given = value(key)
      if (given === undefined) return fallback
      // The environment can only give text.
      if (given === true || given === 'true') return true
      if (given !== false && given !== 'false') problem(key, 'must be true or false')
      return false
    },
    choice(key, allowed) {
      const given = value(key)
      const found = allowed.find(option => option === given)
      if (given !== undefined && found === undefined) problem(key, `must be one of ${allowed.join(', ')}`)
      return found ?? allowed[0]
    },
  }
}

type TextRule = { default?: string; pattern?: RegExp; is?: string }

/** A string; required when the rule has no default. */
export function text(fields: Fields, key: string, rule: TextRule): string {
  const given = fields.value(key) ?? rule.default
  if (typeof given !== 'string' || (given === '' && rule.default === undefined)) {
    fields.problem(key, given === undefined || given === '' ? 'is required' : 'must be a string')
    return ''
  }
  if (rule.pattern && !rule.pattern.test(given))
    fields.problem(key, `must be ${rule.is}, not ${JSON.stringify(given)}`)
  return given
}

/** A list of strings; from the environment also comma-separated. */
export function texts(fields: Fields, key: string): readonly string[] {
  const given = fields.value(key) ?? []
  const list: unknown[] | undefined =
    typeof given === 'string' ? given.split(',').filter(Boolean) : Array.isArray(given) ? given : undefined
  const strings = (list ?? []).filter(item => typeof item === 'string')
  if (list === undefined || strings.length !== list.length) fields.problem(key, 'must be a list of strings')
  return strings
}

/** A duration in whole seconds. */
export function seconds(
  fields: Fields,
  key: string,
  rule: { default: number; min: number; max: number },
): number {
  return integer(fields, key, rule)
}

/** A whole number between two bounds. */
export function integer(
  fields: Fields,
  key: string,
  rule: { default: number; min: number; max: number },
): number {
  const given = fields.value(key) ?? rule.default
  const number = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given
  if (typeof number === 'number' && Number.isInteger(number) && number >= rule.min && number <= rule.max)
    return number
  fields.problem(key, `must be a whole number from ${rule.min} to ${rule.max}, not ${toShown(given)}`)
  return rule.default
}

/** A value of a file, in a message. */
function toShown(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

function toRecord(input: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined
  return Object.fromEntries(Object.entries(input))
}
