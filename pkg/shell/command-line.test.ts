import { execFileSync } from 'node:child_process'
import { expect } from 'chai'
import { commandLine } from './command-line.ts'

describe('a command line for a shell', () => {
  const cases: readonly (readonly [words: readonly string[], line: string])[] = [
    [['kapis', 'login', '--server', 'https://a.test:9443'], 'kapis login --server https://a.test:9443'],
    [['--context', 'a@b.test/c'], '--context a@b.test/c'],
    [[''], "''"],
    [['a b'], "'a b'"],
    [['$(touch x)'], "'$(touch x)'"],
    [['`id`'], "'`id`'"],
    [['"$HOME"'], `'"$HOME"'`],
    [["it's"], String.raw`'it'\''s'`],
    [['!!'], "'!!'"],
    [['~'], "'~'"],
    [['=ls'], "'=ls'"],
    [['--revision=3'], '--revision=3'],
    [['a\nb'], "'a\nb'"],
    [['https://[::1]:9443'], "'https://[::1]:9443'"],
    [['a;b|c&d>e<f*?#'], "'a;b|c&d>e<f*?#'"],
    [['ä'], "'ä'"],
  ]
  for (const [words, line] of cases) {
    it(`is ${JSON.stringify(line)}, which a shell splits into the same arguments`, () => {
      expect(commandLine(...words)).to.equal(line)
      const read = execFileSync('sh', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' })
      expect(read.split('\0').slice(0, -1)).to.deep.equal(words)
    })
  }
})
