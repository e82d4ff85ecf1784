import {
  decodeString,
  firstIn,
  nextIn,
  skipBlank,
  skipString,
  skipValue,
  valueAfter,
} from '../../json/scan.ts'

/** The parts of the JSON of an object, as received. */
export type SourceText = {
  /** metadata without managedFields. */
  readonly metadata: string
  /** metadata.managedFields; '' if there are none. */
  readonly managedFields: string
  /** All but kind, apiVersion and metadata: `,"spec":{…},"status":{…}}`, or `}`. */
  readonly tail: string
}

/**
 * Splits an object at its top-level fields without parsing their values. Returns undefined if a
 * field that Kapis reads is duplicated: the object must then be parsed, to use the same value as
 * other readers.
 */
export function splitObject(json: string): SourceText | undefined {
  const heads = new Set<string>()
  let metadata = '{}'
  let managedFields = ''
  let tail = ''
  // Consecutive fields of the tail are copied together.
  let from = -1
  let end = 0
  const close = () => {
    if (from >= 0) tail += `,${json.slice(from, end)}`
    from = -1
  }
  for (let at = firstIn(json, skipBlank(json, 0)); at >= 0; at = nextIn(json, end)) {
    const keyEnd = skipString(json, at)
    const valueAt = valueAfter(json, keyEnd)
    const name = decodeString(json, at, keyEnd)
    if (name !== 'kind' && name !== 'apiVersion' && name !== 'metadata') {
      if (from < 0) from = at
      end = skipValue(json, valueAt)
      continue
    }
    if (heads.has(name)) return undefined
    heads.add(name)
    close()
    if (name !== 'metadata') {
      end = skipValue(json, valueAt)
      continue
    }
    const found = splitMetadata(json, valueAt)
    if (found === undefined) return undefined
    ;({ metadata, managedFields, end } = found)
  }
  close()
  return { metadata, managedFields, tail: `${tail}}` }
}

function splitMetadata(
  json: string,
  start: number,
): { readonly metadata: string; readonly managedFields: string; readonly end: number } | undefined {
  const names = new Set<string>()
  let metadata = ''
  let managedFields = ''
  let from = -1
  let end = start + 1
  const close = () => {
    if (from >= 0) metadata += (metadata === '' ? '' : ',') + json.slice(from, end)
    from = -1
  }
  for (let at = firstIn(json, start); at >= 0; at = nextIn(json, end)) {
    const keyEnd = skipString(json, at)
    const valueAt = valueAfter(json, keyEnd)
    const name = decodeString(json, at, keyEnd)
    if (names.has(name)) return undefined
    names.add(name)
    if (name !== 'managedFields') {
      if (from < 0) from = at
      end = skipValue(json, valueAt)
      continue
    }
    close()
    end = skipValue(json, valueAt)
    managedFields = json.slice(valueAt, end)
  }
  close()
  return { metadata: `{${metadata}}`, managedFields, end: skipBlank(json, end) + 1 }
}
