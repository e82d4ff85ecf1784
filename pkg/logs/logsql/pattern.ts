import { syntaxError, unescapeText } from './parse/tokenizer.ts'
import type { PatternStep } from './query.ts'

const maxSteps = 200
const entities: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  '#39': "'",
  apos: "'",
}

/**
 * Parses a pattern of `extract` and `format`: `text<field>text<option:field>`. `<>`, `<_>` and
 * `<*>` are fields without a name.
 *
 * @param position position of the pattern in the query
 * @throws Status 400
 */
export function parsePattern(pattern: string, position: number): readonly PatternStep[] {
  const steps: PatternStep[] = []
  let at = 0
  while (at < pattern.length) {
    const open = pattern.indexOf('<', at)
    const prefix = unescapeEntities(pattern.slice(at, open === -1 ? undefined : open))
    if (open === -1) {
      steps.push({ prefix, field: '', option: '' })
      break
    }
    const close = pattern.indexOf('>', open)
    if (close === -1) throw syntaxError('missing > in the pattern', position)
    steps.push({ prefix, ...fieldAndOption(pattern.slice(open + 1, close)) })
    at = close + 1
    if (steps.length > maxSteps) throw syntaxError(`the pattern has more than ${maxSteps} fields`, position)
  }
  return steps
}

function fieldAndOption(text: string): { readonly field: string; readonly option: string } {
  if (text === '_' || text === '*') return { field: '', option: '' }
  const colon = text.indexOf(':')
  return colon === -1
    ? { field: text.trim(), option: '' }
    : { field: text.slice(colon + 1).trim(), option: text.slice(0, colon).trim() }
}

function unescapeEntities(text: string): string {
  return text.replace(/&(lt|gt|amp|quot|apos|#39);/g, (_, name: string) => entities[name] ?? '')
}

/** Returns the values that a pattern extracts from a text, by field. Missing values are ''. */
export function extract(steps: readonly PatternStep[], text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const { field } of steps) if (field !== '') found.set(field, '')
  const [first] = steps
  const begin = first === undefined ? -1 : text.indexOf(first.prefix)
  if (first === undefined || begin === -1) return found
  let at = begin + first.prefix.length
  for (const [i, step] of steps.entries()) {
    const next = steps[i + 1]?.prefix ?? ''
    const part = partAt(text, at, next, step.option)
    if (part === undefined) break
    if (step.field !== '') found.set(step.field, part.value)
    if (!text.startsWith(next, part.end)) break
    at = part.end + next.length
  }
  return found
}

/** Returns the quoted value at an index, otherwise the value up to the next text of the pattern. */
function partAt(text: string, at: number, next: string, option: string) {
  const quoted = option === 'plain' ? undefined : quotedAt(text, at)
  if (quoted !== undefined) return quoted
  const end = next === '' ? text.length : text.indexOf(next, at)
  return end === -1 ? undefined : { value: text.slice(at, end), end }
}

const quotedText = /"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|`[^`]*`/y

/** Reads a quoted text at an index: its value and its end; undefined if there is none. */
export function quotedAt(
  text: string,
  at: number,
): { readonly value: string; readonly end: number } | undefined {
  quotedText.lastIndex = at
  const raw = quotedText.exec(text)?.[0]
  const value = raw === undefined ? undefined : unescapeText(raw)
  return raw === undefined || value === undefined ? undefined : { value, end: at + raw.length }
}
