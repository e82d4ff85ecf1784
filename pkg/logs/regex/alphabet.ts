import { foldCharacter, wordRole } from '../words.ts'
import type { CharacterSet } from './program.ts'

/** Characters that no set of a program tells apart. */
export type CharacterKind = {
  /** One of them, folded when case does not matter; -1 at the end of the text. */
  readonly sample: number
  readonly role: 'none' | 'part' | 'whole'
}

/** A line break that ends the text. */
export const finalBreak = 0
/** What follows the last character. */
export const textEnd = 1

export type Alphabet = {
  readonly kinds: readonly CharacterKind[]
  readonly kindOf: (codePoint: number) => number
}

const maxRemembered = 65_536

export function createAlphabet(sets: readonly CharacterSet[], caseSensitive: boolean): Alphabet {
  const kinds: CharacterKind[] = [
    { sample: 10, role: 'none' },
    { sample: -1, role: 'none' },
  ]
  const bySignature = new Map<string, number>()
  const ascii = new Int32Array(128).fill(-1)
  const others = new Map<number, number>()

  function classify(codePoint: number): number {
    const folded = foldCharacter(String.fromCodePoint(codePoint)).codePointAt(0) ?? codePoint
    const sample = caseSensitive ? codePoint : folded
    const role = wordRole(codePoint)
    const signature = `${role}${sets.map(set => (contains(set, sample) ? 1 : 0)).join('')}`
    const kind = bySignature.get(signature) ?? kinds.push({ sample, role }) - 1
    bySignature.set(signature, kind)
    return kind
  }

  return {
    kinds,
    kindOf: codePoint => {
      const known = codePoint < 128 ? ascii[codePoint] : others.get(codePoint)
      if (known !== undefined && known >= 0) return known
      const kind = classify(codePoint)
      if (codePoint < 128) ascii[codePoint] = kind
      else if (others.size < maxRemembered) others.set(codePoint, kind)
      return kind
    },
  }
}

export function contains({ ranges, negated }: CharacterSet, code: number): boolean {
  return ranges.some(([low, high]) => code >= low && code <= high) !== negated
}
