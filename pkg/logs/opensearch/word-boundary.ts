import type { Range } from '../regex/set.ts'
import type { RegexNode } from '../regex/syntax.ts'
import { wordRole } from '../words.ts'

/**
 * What may stand beside a word without being joined to it: blanks, punctuation and symbols, and Han and Hiragana, of which each
 * is a word by itself. Code points that nobody uses lie within where that saves a range; punctuation of scripts that are
 * rare in logs is left out, since an engine takes a thousand characters of an expression and no more.
 */
export const besideWords: readonly Range[] = [
  [0x00, 0x2f],
  [0x3a, 0x40],
  [0x5b, 0x60],
  [0x7b, 0xa9],
  [0xab, 0xb1],
  [0xb4, 0xb4],
  [0xb6, 0xb8],
  [0xbb, 0xbb],
  [0xbf, 0xbf],
  [0xd7, 0xd7],
  [0xf7, 0xf7],
  [0x37e, 0x37e],
  [0x387, 0x387],
  [0x55a, 0x55f],
  [0x589, 0x58f],
  [0x5be, 0x5be],
  [0x5f3, 0x60f],
  [0x61b, 0x61f],
  [0x66a, 0x66d],
  [0x6d4, 0x6d4],
  [0x964, 0x965],
  [0xe3f, 0xe3f],
  [0x1680, 0x1680],
  [0x1ffd, 0x206f],
  [0x207a, 0x207e],
  [0x208a, 0x208e],
  [0x20a0, 0x20c1],
  [0x2116, 0x2118],
  [0x2120, 0x2123],
  [0x218a, 0x244a],
  [0x249c, 0x24e9],
  [0x2500, 0x2775],
  [0x2794, 0x2bff],
  [0x2e00, 0x2e2e],
  [0x2e30, 0x3005],
  [0x3007, 0x3029],
  [0x3030, 0x3030],
  [0x3036, 0x303b],
  [0x303d, 0x3096],
  [0x309b, 0x30a0],
  [0x30fb, 0x30fb],
  [0x32c0, 0x9fff],
  [0xf900, 0xfad9],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6b],
  [0xfeff, 0xff0f],
  [0xff1a, 0xff20],
  [0xff3b, 0xff40],
  [0xff5b, 0xff65],
  [0xffe0, 0xfffd],
  [0x1f10d, 0x1fbef],
  [0x1fbfa, 0x3ffff],
]

// A set of more characters is not looked through.
const maxCharacters = 256

/**
 * What a boundary beside a node asks of the character on its other side: to be one of `besideWords`, or nothing since there is
 * a boundary always.
 *
 * @returns undefined where it depends on which character the node stands for
 */
export function boundaryBeside(
  node: RegexNode | undefined,
  side: 'first' | 'last',
): 'separator' | 'anything' | undefined {
  if (node?.kind === 'sequence') return boundaryBeside(node.items.at(side === 'first' ? 0 : -1), side)
  if (node?.kind === 'repeat') return node.min > 0 ? boundaryBeside(node.item, side) : undefined
  if (node?.kind !== 'set' || node.negated) return undefined
  const count = node.ranges.reduce((sum, [low, high]) => sum + high - low + 1, 0)
  if (count === 0 || count > maxCharacters) return undefined
  const roles = new Set(node.ranges.flatMap(([low, high]) => rolesOf(low, high)))
  if (roles.size > 1 || roles.has('none')) return undefined
  return roles.has('part') ? 'separator' : 'anything'
}

function rolesOf(low: number, high: number): ReturnType<typeof wordRole>[] {
  return Array.from({ length: high - low + 1 }, (_, i) => wordRole(low + i))
}
