import { type FieldScalar, type FieldValue, formatJson, isScalar } from '../../field-values.ts'
import type { IngestLimits } from '../limits.ts'
import type { LineNotes } from './line-notes.ts'
import { isOriginName } from './origin-names.ts'

/** All values of a line by flattened name (`a.b.c`); its lists may be modified. */
export type FlatFields = Map<string, FieldScalar | FieldScalar[]>

const depth = 8

/** Adds a value under a name. If the name already has a value, both become a list. */
export function put(flat: FlatFields, name: string, value: FieldValue): void {
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
 * Adds a value under a name. Fields of an object are added under their own names; a list of objects
 * is added as JSON. Beyond `lineValues` names, only those of the origin are added.
 */
export function flatten(
  flat: FlatFields,
  name: string,
  value: unknown,
  notes: LineNotes,
  limits: IngestLimits,
  level = 0,
): void {
  if (value === null || value === undefined) return
  // OpenSearch rejects a line if half of a surrogate pair is in a name.
  if (!name.isWellFormed()) {
    notes.add('invalid_unicode')
    flatten(flat, name.toWellFormed(), value, notes, limits, level)
    return
  }
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

export const tooDeep = '(nested too deep)'

/** Formats a value as JSON. If it is nested too deeply, returns `tooDeep` with a note. */
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

/** Removes those values of a name that are already part of the origin. */
export function takeOut(flat: FlatFields, name: string, isKnown: (value: FieldScalar) => boolean): void {
  const value = flat.get(name) ?? []
  const rest = (typeof value === 'object' ? value : [value]).filter(one => !isKnown(one))
  const [only, second] = rest
  if (only === undefined) flat.delete(name)
  else flat.set(name, second === undefined ? only : rest)
}
