import { type AST, RegExpParser } from '@eslint-community/regexpp'

/** A range of code points, both ends inclusive. */
export type Range = readonly [number, number]

/**
 * The syntax tree of a regular expression, as far as it affects whether a text matches: without
 * groups, and without the difference between greedy and lazy.
 */
export type RegexNode =
  /** One character in the ranges or, if negated, outside of them. */
  | { readonly kind: 'set'; readonly ranges: readonly Range[]; readonly negated: boolean }
  | { readonly kind: 'sequence'; readonly items: readonly RegexNode[] }
  | { readonly kind: 'choice'; readonly options: readonly RegexNode[] }
  | { readonly kind: 'repeat'; readonly item: RegexNode; readonly min: number; readonly max: number }
  | { readonly kind: 'assert'; readonly at: 'start' | 'end' | 'boundary' | 'inside' }

/** Returns a node for each character of a text. */
export function literalNodes(text: string): readonly RegexNode[] {
  return [...text].map(character => {
    const code = character.codePointAt(0) ?? 0
    return { kind: 'set', ranges: [[code, code]], negated: false }
  })
}

const last = 0x10ffff
const classes: Readonly<Record<'digit' | 'space' | 'word', readonly Range[]>> = {
  digit: [[0x30, 0x39]],
  // The white space of RE2 has fewer characters than that of JavaScript.
  space: [
    [0x09, 0x0a],
    [0x0c, 0x0d],
    [0x20, 0x20],
  ],
  word: [
    [0x30, 0x39],
    [0x41, 0x5a],
    [0x5f, 0x5f],
    [0x61, 0x7a],
  ],
}

/**
 * Parses an expression that `compileRegex` accepts.
 *
 * @returns undefined if it uses features of RE2 that JavaScript lacks, or that do not denote single
 * characters, such as flags and Unicode classes
 */
export function parseRegex(source: string): RegexNode | undefined {
  try {
    const parser = new RegExpParser({ ecmaVersion: 2025 })
    const plain = withPlainEscapes(source)
    return toChoice(parser.parsePattern(plain, 0, plain.length, { unicode: true }).alternatives)
  } catch {
    // Catches syntax errors, unsupported features and stack overflows by deep nesting.
    return undefined
  }
}

/** Replaces escapes that RE2 allows but JavaScript with the u flag rejects. */
function withPlainEscapes(source: string): string {
  return source.replace(/\\(.)/gs, (found, character: string) =>
    /[\w^$\\.*+?()[\]{}|/]/.test(character) ? found : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
}

function toChoice(alternatives: readonly AST.Alternative[]): RegexNode {
  const options = alternatives.map(({ elements }): RegexNode => {
    const items = elements.map(toNode)
    return { kind: 'sequence', items }
  })
  const [first] = options
  return options.length === 1 && first !== undefined ? first : { kind: 'choice', options }
}

function toNode(element: AST.Element): RegexNode {
  switch (element.type) {
    case 'Character':
      return { kind: 'set', ranges: [[element.value, element.value]], negated: false }
    case 'CharacterSet':
      if (element.kind === 'any') return { kind: 'set', ranges: [[10, 10]], negated: true }
      if (element.kind === 'property') throw new Error(element.type)
      return { kind: 'set', ranges: classes[element.kind], negated: element.negate }
    case 'CharacterClass':
      return { kind: 'set', ranges: element.elements.flatMap(rangesOf), negated: element.negate }
    case 'Group':
      if (element.modifiers !== null) throw new Error('modifiers')
      return toChoice(element.alternatives)
    case 'CapturingGroup':
      return toChoice(element.alternatives)
    case 'Quantifier':
      return { kind: 'repeat', item: toNode(element.element), min: element.min, max: element.max }
    case 'Assertion':
      if (element.kind === 'start' || element.kind === 'end') return { kind: 'assert', at: element.kind }
      if (element.kind === 'word') return { kind: 'assert', at: element.negate ? 'inside' : 'boundary' }
      throw new Error('look-around')
    default:
      throw new Error(element.type)
  }
}

function rangesOf(element: AST.CharacterClassElement): readonly Range[] {
  if (element.type === 'Character') return [[element.value, element.value]]
  if (element.type === 'CharacterClassRange') return [[element.min.value, element.max.value]]
  if (element.type !== 'CharacterSet' || element.kind === 'property') {
    throw new Error(element.type)
  }
  return element.negate ? complement(classes[element.kind]) : classes[element.kind]
}

function complement(ranges: readonly Range[]): readonly Range[] {
  const gaps: Range[] = []
  let from = 0
  for (const [low, high] of ranges) {
    if (from < low) gaps.push([from, low - 1])
    from = high + 1
  }
  return [...gaps, [from, last]]
}
