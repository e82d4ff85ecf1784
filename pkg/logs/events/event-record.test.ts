import { expect } from 'chai'
import { createExpressionTest } from '../filter/matcher.ts'
import { record } from '../fixtures.ts'
import { hasPart, hasValue, toFields } from './event-record.ts'

const fields = toFields({ verb: 'get', user: 'Alice of Ops', group: ['dev.team+1', 'ops'], name: '' })
const body = { verb: 'list', user: 'mallory', text: '"verb":"delete"' }
const stored = record({ log: JSON.stringify(body), fields })

describe('the record of an event', () => {
  it('has no empty fields, and no field names that come from callers', () => {
    expect(fields).to.not.have.property('name')
    const groups = Array.from({ length: 1000 }, (_, i) => `${i}${'g'.repeat(9000)}`)
    const { group, user } = toFields({ group: groups, user: 'u'.repeat(9000) })
    expect(group).to.have.length(100)
    expect(
      [group, user]
        .flat()
        .map(value => String(value).length)
        .slice(-2),
    ).to.deep.equal([2000, 2000])
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
    ['the second value of a field', hasValue('group', ['ops']), true],
    ['a part, case aside', hasPart('user', ['alice OF']), true],
    ['a part with signs as they stand', hasPart('group', ['dev.team+']), true],
    ['no pattern', hasPart('group', ['dev*team', '.*']), false],
    ['no part of another field', hasPart('verb', ['alice']), false],
    ['no part of the body', hasPart('user', ['mallory']), false],
    ['nothing of a field that is missing', hasPart('name', ['x']), false],
  ]
  for (const [what, expression, is] of found) {
    it(`is selected by: ${what}`, () => {
      expect(createExpressionTest(expression)(stored)).to.equal(is)
    })
  }
})
