import { decodeString, firstIn, nextIn, skipBlank, skipString, skipValue, valueAfter } from './scan.ts'

/** A field of an object: its name and its positions in the source text. */
export type Field = {
  readonly name: string
  /** Position of the key's opening quote. */
  readonly start: number
  readonly valueStart: number
  readonly end: number
}

/** Returns the fields of an object in source order, duplicates included; otherwise none. */
export function fieldsIn(json: string): readonly Field[] {
  const members: Field[] = []
  const open = skipBlank(json, 0)
  let start = json[open] === '{' ? firstIn(json, open) : -1
  while (start >= 0) {
    const keyEnd = skipString(json, start)
    const valueStart = valueAfter(json, keyEnd)
    const end = skipValue(json, valueStart)
    members.push({ name: decodeString(json, start, keyEnd), start, valueStart, end })
    start = nextIn(json, end)
  }
  return members
}

/** Returns the source text of each item of an array; none for other values. */
export function itemTexts(json: string): readonly string[] {
  const items: string[] = []
  const open = skipBlank(json, 0)
  let start = json[open] === '[' ? firstIn(json, open) : -1
  while (start >= 0) {
    const end = skipValue(json, start)
    items.push(json.slice(start, end))
    start = nextIn(json, end)
  }
  return items
}

/**
 * Returns the source text of a field's value, or '' if the object lacks the field. Of duplicate
 * names the last counts, as in JSON.parse.
 */
export function fieldText(json: string, name: string): string {
  const found = fieldsIn(json).findLast(member => member.name === name)
  return found === undefined ? '' : json.slice(found.valueStart, found.end)
}

/**
 * Sets fields of an object; an undefined value removes the field. Other fields keep their source
 * text and position; new fields are appended.
 *
 * @param values source text of each value
 */
export function withFields(json: string, values: ReadonlyMap<string, string | undefined>): string {
  const parts: string[] = []
  const done = new Set<string>()
  for (const { name, start, valueStart, end } of fieldsIn(json)) {
    if (!values.has(name)) parts.push(json.slice(start, end))
    else if (!done.has(name)) {
      done.add(name)
      const value = values.get(name)
      if (value !== undefined) parts.push(json.slice(start, valueStart) + value)
    }
  }
  for (const [name, value] of values)
    if (value !== undefined && !done.has(name)) parts.push(`${JSON.stringify(name)}:${value}`)
  return `{${parts.join(',')}}`
}

/** Removes the field at a path, duplicates included; the same text if there is none. */
export function withoutField(json: string, path: readonly string[]): string {
  const [name, ...rest] = path
  if (name === undefined) return json
  const members = fieldsIn(json)
  if (!members.some(member => member.name === name)) return json
  const parts = members.flatMap(member => {
    if (member.name !== name) return json.slice(member.start, member.end)
    if (rest.length === 0) return []
    return (
      json.slice(member.start, member.valueStart) +
      withoutField(json.slice(member.valueStart, member.end), rest)
    )
  })
  return `{${parts.join(',')}}`
}

/** Returns JSON without white space between its tokens. */
export function compactJson(json: string): string {
  const parts: string[] = []
  let from = 0
  for (let i = 0; i < json.length; ) {
    if (json[i] === '"') {
      i = skipString(json, i)
      continue
    }
    const end = skipBlank(json, i)
    if (end > i) {
      parts.push(json.slice(from, i))
      from = end
    }
    i = end === i ? i + 1 : end
  }
  return from === 0 ? json : parts.join('') + json.slice(from)
}
