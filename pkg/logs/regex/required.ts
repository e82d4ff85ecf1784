import { allOf, anyOf, type Expression, match } from '../expression.ts'
import type { RegexNode } from './syntax.ts'

/**
 * What a text must contain, case aside, for the regular expression to find anything in it: a store can look that up before
 * it tries the expression itself. Undefined when nothing can be said.
 */
export function requiredTexts(root: RegexNode): Expression | undefined {
  const { parts, tail } = collect(root, '')
  return allOf(tail === '' ? parts : [...parts, contains(tail)])
}

/** Conditions found so far, and the literal text that is still growing at the end. */
type Found = { readonly parts: readonly Expression[]; readonly tail: string }

function collect(node: RegexNode, tail: string): Found {
  switch (node.kind) {
    case 'set': {
      const character = singleCharacter(node)
      return character === undefined ? closed(tail) : { parts: [], tail: tail + character }
    }
    case 'assert':
      return { parts: [], tail }
    case 'sequence': {
      const parts: Expression[] = []
      let rest = tail
      for (const item of node.items) {
        const found = collect(item, rest)
        parts.push(...found.parts)
        rest = found.tail
      }
      return { parts, tail: rest }
    }
    case 'choice': {
      const options = node.options.map(requiredTexts)
      const known = options.filter(option => option !== undefined)
      const before = closed(tail).parts
      return { parts: known.length === options.length ? [...before, anyOf(known)] : before, tail: '' }
    }
    case 'repeat': {
      const before = closed(tail).parts
      const inner = node.min > 0 ? requiredTexts(node.item) : undefined
      return { parts: inner === undefined ? before : [...before, inner], tail: '' }
    }
  }
}

function closed(tail: string): Found {
  return { parts: tail === '' ? [] : [contains(tail)], tail: '' }
}

function contains(text: string): Expression {
  return match('log', { kind: 'contains', text, caseSensitive: false })
}

function singleCharacter(node: Extract<RegexNode, { kind: 'set' }>): string | undefined {
  const [range] = node.ranges
  if (node.negated || node.ranges.length !== 1 || range === undefined || range[0] !== range[1])
    return undefined
  return String.fromCodePoint(range[0])
}
