import { expect } from 'chai'
import { record } from '../fixtures.ts'
import { createExpressionTest } from '../matcher.ts'
import { firstValue, hasPart, hasValue, readEntry, toEntry } from './entry.ts'

const heading = [
  ['verb', 'get'],
  ['user', 'Alice of Ops'],
  ['group', 'dev.team+1'],
  ['group', 'ops'],
  ['name', ''],
] as const
const body = { verb: 'list', text: 'verb=delete\u001e\nname=x\u001e', user: 'mallory' }
const log = toEntry(heading, JSON.stringify(body))

describe('toEntry', () => {
  it('keeps the event as it was', () => {
    expect(readEntry(log)).to.equal(JSON.stringify(body))
    expect(readEntry('a line\n')).to.equal(undefined)
    expect([firstValue(log, 'group'), firstValue(log, 'name')]).to.deep.equal(['dev.team+1', undefined])
  })

  it('has a heading that does not grow with what callers send', () => {
    const groups = Array.from({ length: 1000 }, (_, i) => ['group', `${'g'.repeat(2000)}${i}`] as const)
    const text = toEntry([['verb', 'get'], ...groups], '{}')
    expect(text.length).to.be.lessThan(4_600)
    expect(firstValue(text, 'verb')).to.equal('get')
  })

  const found: readonly [
    name: string,
    expression: Parameters<typeof createExpressionTest>[0],
    is: boolean,
  ][] = [
    ['a value', hasValue('verb', ['list', 'get']), true],
    ['no part of a value', hasValue('verb', ['ge']), false],
    ['no value of another case', hasValue('verb', ['GET']), false],
    ['nothing that the body says', hasValue('verb', ['list', 'delete']), false],
    ['the second value of a name', hasValue('group', ['ops']), true],
    ['a part, case aside', hasPart('user', ['alice OF']), true],
    ['a part with signs as they stand', hasPart('group', ['dev.team+']), true],
    ['no pattern', hasPart('group', ['dev*team', '.*']), false],
    ['no part of another name', hasPart('verb', ['alice']), false],
    ['no part of the body', hasPart('user', ['mallory']), false],
    ['nothing of a name that is not there', hasPart('name', ['x']), false],
    ['nothing by a sign of its own', hasValue('verb', ['get\u001euser=Alice of Ops']), false],
  ]
  for (const [what, expression, is] of found) {
    it(`finds ${what}`, () => {
      expect(createExpressionTest(expression)(record({ log }))).to.equal(is)
    })
  }
})
