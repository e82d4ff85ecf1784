import { parseRange } from '../request/client-address.ts'

/** One mistake in a configuration: where, and what is allowed there. */
export type Problem = { readonly path: string; readonly message: string }

/** What is allowed at a path, in the words of JSON Schema. */
export type Learn = (path: string, schema: Readonly<Record<string, unknown>>) => void

/** What comes of reading beside the values: mistakes, and for who asks, what would have been allowed. */
export type Reading = { readonly problems: Problem[]; readonly learn?: Learn | undefined }

/** A configuration object being read: hands out members by type and collects every problem instead of stopping. */
export type Fields = {
  readonly value: (key: string) => unknown
  readonly problem: (key: string, message: string) => void
  /** Tells what is allowed, once for each reading. */
  readonly learn: (key: string, schema: Readonly<Record<string, unknown>>) => void
  readonly object: (key: string, known: readonly string[]) => Fields
  readonly list: (key: string, known: readonly string[]) => readonly Fields[] | undefined
  readonly boolean: (key: string, fallback: boolean) => boolean
  readonly choice: <T extends string>(key: string, allowed: readonly [T, ...T[]]) => T
}

/** Reads `input` as an object with no members but `known`; `path` is '' for the whole document. */
export function object(
  input: unknown,
  path: string,
  reading: Reading | Problem[],
  known: readonly string[],
): Fields {
  const { problems, learn: teach }: Reading = 'problems' in reading ? reading : { problems: reading }
  const at = (key: string) => (path === '' ? key : `${path}.${key}`)
  const record = toRecord(input)
  if (record === undefined) problems.push({ path: path || '(document)', message: 'must be a mapping' })
  const members = record ?? {}
  for (const key of Object.keys(members)) {
    if (!known.includes(key))
      problems.push({ path: at(key), message: `unknown; allowed are ${known.join(', ')}` })
  }
  const problem = (key: string, message: string) => void problems.push({ path: at(key), message })
  const learn: Fields['learn'] = (key, schema) => teach?.(at(key), schema)
  const value = (key: string) => members[key] ?? undefined
  teach?.(path, { type: 'object', additionalProperties: false })
  return {
    value,
    problem,
    learn,
    object: (key, inner) => object(value(key) ?? {}, at(key), reading, inner),
    list(key, inner) {
      learn(key, { type: 'array' })
      const items = value(key)
      if (items === undefined) return undefined
      if (!Array.isArray(items)) {
        problem(key, 'must be a list')
        return []
      }
      return items.map((item, i) => object(item, `${at(key)}[${i}]`, reading, inner))
    },
    boolean(key, fallback) {
      learn(key, { type: 'boolean', default: fallback })
      const given = value(key)
      if (given === undefined) return fallback
      // The environment can only give text.
      if (given === true || given === 'true') return true
      if (given !== false && given !== 'false') problem(key, 'must be true or false')
      return false
    },
    choice(key, allowed) {
      learn(key, { enum: allowed, default: allowed[0] })
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
  // An empty text stands for none where none is allowed, whatever the pattern of others.
  const pattern = rule.pattern === undefined ? {} : { pattern: rule.pattern.source }
  const required = rule.default === undefined ? { minLength: 1 } : { default: rule.default }
  fields.learn(key, { type: 'string', ...pattern, ...required })
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
  fields.learn(key, { type: 'array', items: { type: 'string' }, default: [] })
  const given = fields.value(key) ?? []
  const list: unknown[] | undefined =
    typeof given === 'string' ? given.split(',').filter(Boolean) : Array.isArray(given) ? given : undefined
  const strings = (list ?? []).filter(item => typeof item === 'string')
  if (list === undefined || strings.length !== list.length) fields.problem(key, 'must be a list of strings')
  return strings
}

/** A TCP port, 0 (any free one) to 65535. */
export function port(fields: Fields, key: string, fallback: number): number {
  return integer(fields, key, { default: fallback, min: 0, max: 65_535 })
}

/** A duration in whole seconds. */
export function seconds(
  fields: Fields,
  key: string,
  rule: { default: number; min: number; max: number },
): number {
  return integer(fields, key, rule)
}

/** A duration in whole seconds that may be left out. */
export function optionalSeconds(
  fields: Fields,
  key: string,
  rule: { min: number; max: number },
): number | undefined {
  return fields.value(key) === undefined ? undefined : integer(fields, key, { default: rule.min, ...rule })
}

/** A whole number between two bounds. */
export function integer(
  fields: Fields,
  key: string,
  rule: { default: number; min: number; max: number },
): number {
  fields.learn(key, { type: 'integer', minimum: rule.min, maximum: rule.max, default: rule.default })
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

/** IP addresses and CIDRs. */
export function ranges(fields: Fields, key: string): readonly string[] {
  const list = texts(fields, key)
  for (const range of list) {
    try {
      parseRange(range)
    } catch {
      fields.problem(key, `must hold IP addresses and CIDRs such as 10.0.0.0/8, not ${JSON.stringify(range)}`)
    }
  }
  return list
}

export function duplicateNames(items: readonly { readonly name: string }[]): readonly string[] {
  return items.map(item => item.name).filter((name, i, all) => all.indexOf(name) !== i)
}

function toRecord(input: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined
  return Object.fromEntries(Object.entries(input))
}
