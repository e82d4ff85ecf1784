import { expect } from 'chai'
import { parseRegex } from './syntax.ts'

describe('parseRegex', () => {
  const invalid: readonly [string, string, number][] = [
    ['a(b', 'this ( is not closed', 1],
    ['a)b', 'this ) closes nothing', 1],
    ['[ab', 'this [ is not closed', 0],
    ['[]', 'a set cannot be empty', 0],
    ['[z-a]', 'the ends of the range are in the wrong order', 1],
    ['[a-\\d]', 'a range needs a character at both ends', 1],
    ['*a', 'nothing to repeat before *', 0],
    ['{2}', 'nothing to repeat before {', 0],
    ['a|+', 'nothing to repeat before +', 2],
    ['^*', 'there is nothing here to repeat', 1],
    ['a**', 'a repetition cannot be repeated; use a group', 1],
    ['a{', '{ begins {n}, {n,} or {n,m}; the character itself is \\{', 1],
    ['a{2,1}', 'the lower bound is above the upper one', 1],
    ['a{1001}', 'at most 1000 times are supported', 1],
    ['(?=a)', 'groups that begin with (? are not supported, but for (?:', 0],
    ['(?<name>a)', 'groups that begin with (? are not supported, but for (?:', 0],
    ['(a)\\1', 'back-references are not supported', 3],
    ['\\p{L}', '\\p is not supported', 0],
    ['a\\', 'nothing follows the \\', 1],
    ['\\xg0', 'must be \\xHH, \\uHHHH or \\u{H…}', 0],
    ['\\u{110000}', 'above the last code point', 0],
    ['😀[', 'this [ is not closed', 2],
    ['('.repeat(51), 'groups are nested more than 50 deep', 50],
  ]
  for (const [source, message, offset] of invalid) {
    it(`refuses ${source}`, () => {
      const report = (text: string, at: number): never => {
        throw new Error(`${at}: ${text}`)
      }
      expect(() => parseRegex(source, report)).to.throw(Error, `${offset}: ${message}`)
    })
  }
})
