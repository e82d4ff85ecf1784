import { foldCharacter } from '../words.ts'
import type { Range } from './set.ts'
import type { Assertion, RegexNode } from './syntax.ts'

/** One step of an automaton: states are numbered by their place, and `next` names the ones that follow. */
export type Step =
  | { readonly kind: 'set'; readonly set: number; readonly next: number }
  | { readonly kind: 'split'; readonly next: readonly number[] }
  | { readonly kind: 'assert'; readonly at: Assertion; readonly next: number }
  | { readonly kind: 'found' }

export type CharacterSet = { readonly ranges: readonly Range[]; readonly negated: boolean }

export type Program = {
  readonly steps: readonly Step[]
  readonly sets: readonly CharacterSet[]
  readonly start: number
}

/** Repetitions are written out, so this bounds what a few characters like (a{1000}){1000} may cost. */
export const maxSteps = 5000

/** Thompson's construction. Undefined when it would take more than `maxSteps`. */
export function compileRegex(root: RegexNode, caseSensitive: boolean): Program | undefined {
  const steps: Step[] = [{ kind: 'found' }]
  const sets: CharacterSet[] = []
  let tooMany = false

  function add(step: Step): number {
    tooMany ||= steps.length >= maxSteps
    return steps.push(step) - 1
  }

  // From the end to the beginning: each piece is compiled knowing what follows it.
  function compile(node: RegexNode, next: number): number {
    if (tooMany) return next
    switch (node.kind) {
      case 'set': {
        const ranges = caseSensitive ? node.ranges : foldRanges(node.ranges)
        return add({ kind: 'set', set: sets.push({ ranges, negated: node.negated }) - 1, next })
      }
      case 'assert':
        return add({ kind: 'assert', at: node.at, next })
      case 'sequence':
        return node.items.reduceRight((after, item) => compile(item, after), next)
      case 'choice':
        return add({ kind: 'split', next: node.options.map(option => compile(option, next)) })
      case 'repeat':
        return compileRepeat(node, next)
    }
  }

  function compileRepeat(node: Extract<RegexNode, { kind: 'repeat' }>, next: number): number {
    let at = next
    if (node.max === Infinity) {
      const loop = steps.push({ kind: 'split', next: [] }) - 1
      steps[loop] = { kind: 'split', next: [compile(node.item, loop), next] }
      at = loop
    } else {
      for (let i = node.min; i < node.max && !tooMany; i += 1) {
        at = add({ kind: 'split', next: [compile(node.item, at), next] })
      }
    }
    for (let i = 0; i < node.min && !tooMany; i += 1) at = compile(node.item, at)
    return at
  }

  const start = compile(root, 0)
  return tooMany ? undefined : { steps, sets, start }
}

const widestFolded = 0x10000

/** The text is folded before it is compared, so what it is compared with must be. */
function foldRanges(ranges: readonly Range[]): readonly Range[] {
  return ranges.flatMap(([low, high]): readonly Range[] => {
    if (high - low > widestFolded) return [[low, high]]
    const folded: [number, number][] = []
    for (let code = low; code <= high; code += 1) {
      const to = foldCharacter(String.fromCodePoint(code)).codePointAt(0) ?? code
      const run = folded.at(-1)
      if (run !== undefined && to === run[1] + 1) run[1] = to
      else folded.push([to, to])
    }
    return folded
  })
}
