import { expect } from 'chai'
import { parseJson } from './parse.ts'

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

describe('parseJson', () => {
  it('parses what JSON.parse parses', () => {
    for (const text of ['1', '"{[{["', '{"a":[{},[],"\\"[["]}', nested(100), `[${'[],{},'.repeat(500)}1]`])
      expect(parseJson(text)).to.deep.equal(JSON.parse(text))
  })

  it('rejects nesting beyond its limit, at any depth', () => {
    for (const text of [nested(101), nested(100_000), '['.repeat(101) + ']'.repeat(101), `[${nested(100)}]`])
      expect(() => parseJson(text)).to.throw(SyntaxError, 'the JSON is nested deeper than 100 levels')
    expect(() => parseJson('[[1]]', 1)).to.throw(SyntaxError)
  })

  it('does not count brackets in strings', () => {
    const text = JSON.stringify({ a: '{['.repeat(1_000), b: ['\\"[{'.repeat(1_000)] })
    expect(parseJson(text)).to.deep.equal(JSON.parse(text))
  })

  it('rejects invalid JSON', () => {
    for (const text of ['', '{', '[1,]', "{'a':1}"]) expect(() => parseJson(text)).to.throw(SyntaxError)
  })
})
