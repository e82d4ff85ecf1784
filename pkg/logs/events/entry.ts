import { anyOf, type Expression, match } from '../expression.ts'

/** What can be asked of an event, by name; a name may be there several times. */
export type Heading = readonly (readonly [name: string, value: string])[]

// A control character, which JSON never has as it is: nothing that an event says can look like a part of its heading.
const mark = '\u001e'
// OpenSearch looks for parts of a text in its first 8000 characters or not at all (pkg/logs/opensearch/template.ts).
export const longestEntry = 7_900
const longestValue = 1_000
// All that stands before the body; the rest is for the body.
const longestHeading = 4_500

/**
 * An event as the text of a log line: what can be asked for, and then the event as JSON, as it was received. Columns of a store are for what few
 * values have (a namespace, a kind, an object of which there are several events); names of users or numbers of versions would
 * be as many columns as there are events.
 */
export function toEntry(heading: Heading, json: string): string {
  const lines: string[] = []
  let length = 0
  for (const [name, value] of heading) {
    if (value === '') continue
    const line = `${name}=${clean(value)}`
    length += line.length + 1
    if (length > longestHeading) break
    lines.push(line)
  }
  return `${[mark, ...lines.map(line => line + mark)].join('')}\n${json}`
}

/** The event of an entry, as JSON; undefined for a text that has none. */
export function readEntry(text: string): string | undefined {
  const start = text.startsWith(mark) ? text.indexOf(`${mark}\n`) : -1
  return start < 0 ? undefined : text.slice(start + 2)
}

/** The first value of a name in the heading of an entry. */
export function firstValue(text: string, name: string): string | undefined {
  const start = text.indexOf(`${mark}${name}=`)
  if (start < 0) return undefined
  const from = start + name.length + 2
  return text.slice(from, text.indexOf(mark, from))
}

/** Entries of which one value of a name is one of these, with case. */
export function hasValue(name: string, values: readonly string[]): Expression {
  return anyOf(
    values.map(value =>
      match('log', {
        kind: 'contains',
        text: `${mark}${name}=${clean(value)}${mark}`,
        caseSensitive: true,
      }),
    ),
  )
}

/** Entries of which one value of a name contains one of these, case aside. */
export function hasPart(name: string, parts: readonly string[]): Expression {
  return anyOf(
    parts.map(part => {
      const source = `${mark}${name}=[^${mark}]*${quote(clean(part))}`
      return match('log', { kind: 'regex', source, caseSensitive: false })
    }),
  )
}

function clean(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be in a heading
  return value.slice(0, longestValue).replaceAll(/[\u0000-\u001f]/g, ' ')
}

/** Text as a regular expression that finds it. */
function quote(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]/gu, character =>
    (character.codePointAt(0) ?? 0) < 0x80 ? `\\${character}` : character,
  )
}
