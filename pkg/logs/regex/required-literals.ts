import { allOf, anyOf, type Expression, match } from '../filter/expression.ts'
import type { RegexNode } from './parse.ts'

/**
 * Returns a condition for the literal texts that every match contains. A store evaluates it by an
 * index before it runs the expression.
 *
 * @returns undefined if there are none
 */
export function requiredTexts(root: RegexNode, caseSensitive: boolean): Expression | undefined {
  const { parts, tail } = collect(root, '', caseSensitive)
  return allOf([...parts, ...contains(tail, caseSensitive)])
}

/** The conditions so far, and the literal text at the end, which a node may continue. */
type LiteralState = { readonly parts: readonly Expression[]; readonly tail: string }

function collect(node: RegexNode, tail: string, caseSensitive: boolean): LiteralState {
  const before = () => contains(tail, caseSensitive)
  switch (node.kind) {
    case 'set': {
      const character = singleCharacter(node, caseSensitive)
      return character === undefined ? { parts: before(), tail: '' } : { parts: [], tail: tail + character }
    }
    case 'assert':
      return { parts: [], tail }
    case 'sequence': {
      const parts: Expression[] = []
      let rest = tail
      for (const item of node.items) {
        const found = collect(item, rest, caseSensitive)
        parts.push(...found.parts)
        rest = found.tail
      }
      return { parts, tail: rest }
    }
    case 'choice': {
      const options = node.options.map(option => requiredTexts(option, caseSensitive))
      const known = options.filter(option => option !== undefined)
      return { parts: known.length === options.length ? [...before(), anyOf(known)] : before(), tail: '' }
    }
    case 'repeat': {
      const inner = node.min > 0 ? requiredTexts(node.item, caseSensitive) : undefined
      return { parts: inner === undefined ? before() : [...before(), inner], tail: '' }
    }
  }
}

function contains(text: string, caseSensitive: boolean): readonly Expression[] {
  return text === '' ? [] : [match('log', { kind: 'contains', text, caseSensitive })]
}

/** Returns the only character of a set; else undefined, as for several case variants. */
function singleCharacter(
  { ranges, negated }: Extract<RegexNode, { kind: 'set' }>,
  caseSensitive: boolean,
): string | undefined {
  const [range] = ranges
  if (negated || ranges.length !== 1 || range === undefined || range[0] !== range[1]) return undefined
  const character = String.fromCodePoint(range[0])
  const hasOneForm = range[0] < 0x80 || character.toLowerCase() === character.toUpperCase()
  return caseSensitive || hasOneForm ? character : undefined
}
