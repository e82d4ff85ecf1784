import { type FieldScalar, type FieldValue, formatJson, isScalar } from '../fields.ts'
import type { IngestLimits } from './limits.ts'
import type { LineNotes } from './notes.ts'
import { isOriginName } from './origin-names.ts'

/**
 * Everything that a sender said of a line, by names with dots between the levels. Lists are the
 * map's own.
 */
export type Flat = Map<string, FieldScalar | FieldScalar[]>

const depth = 8

/** Adds a value under a name. A name that has another value already gets a list of both. */
export function put(flat: Flat, name: string, value: FieldValue): void {
  const known = flat.get(name)
  if (known === undefined) flat.set(name, typeof value === 'object' ? [...value] : value)
  else if (known !== value) {
    const list = typeof known === 'object' ? known : [known]
    if (typeof value !== 'object') list.push(value)
    else for (const one of value) list.push(one)
    flat.set(name, list)
  }
}

/**
 * Adds a value under a name: members of objects under names of their own, lists of objects as JSON.
 * Of more names than are looked at, those are left out that do not say where the line comes from.
 */
export function flatten(
  flat: Flat,
  name: string,
  value: unknown,
  notes: LineNotes,
  limits: IngestLimits,
  level = 0,
): void {
  if (value === null || value === undefined) return
  const isLeaf = isScalar(value) || Array.isArray(value) || level >= depth
  if (isLeaf && flat.size >= limits.lineValues && !isOriginName(name)) notes.add('field_omitted')
  else if (isScalar(value)) put(flat, name, value)
  else if (Array.isArray(value)) {
    if (value.length === 0) return
    put(flat, name, value.every(isScalar) ? value : formatMember(value, notes))
  } else if (level >= depth) put(flat, name, formatMember(value, notes))
  else
    for (const [key, member] of Object.entries(value))
      flatten(flat, `${name}.${key}`, member, notes, limits, level + 1)
}

/** In place of a value that is nested too deep. */
export const tooDeep = '(nested too deep)'

/** A value as JSON. */
export function formatMember(value: unknown, notes: LineNotes): string {
  try {
    return formatJson(value)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    notes.add('nested_too_deep')
    return tooDeep
  }
}

export function firstOf(value: FieldValue): FieldScalar | undefined {
  return typeof value === 'object' ? value[0] : value
}

/** Removes the values of a name that are known elsewhere. */
export function takeOut(flat: Flat, name: string, isKnown: (value: FieldScalar) => boolean): void {
  const value = flat.get(name) ?? []
  const rest = (typeof value === 'object' ? value : [value]).filter(one => !isKnown(one))
  const [only, second] = rest
  if (only === undefined) flat.delete(name)
  else flat.set(name, second === undefined ? only : rest)
}
