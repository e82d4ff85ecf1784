import { expect } from 'chai'
import { thrownFields } from '../../apierrors/fixtures.ts'
import { QueryParameters } from './query-parameters.ts'

describe('QueryParameters', () => {
  const semicolon = 'the query contains a ";" that must be percent-encoded'
  const encoding = 'the query contains an invalid percent-encoding'
  const utf8 = 'the query contains percent-encoded bytes that are not UTF-8'
  const readings: readonly (readonly [
    query: string,
    pairs: readonly (readonly [string, string])[],
    problem?: string,
  ])[] = [
    ['', []],
    ['&&', []],
    ['a', [['a', '']]],
    ['a=', [['a', '']]],
    ['=b', [['', 'b']]],
    ['a=b=c', [['a', 'b=c']]],
    [
      'a=b&c=d',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      'a=1&a=2',
      [
        ['a', '1'],
        ['a', '2'],
      ],
    ],
    ['a+b=c+d', [['a b', 'c d']]],
    ['%66ieldSelector=%3d', [['fieldSelector', '=']]],
    ['a=%2B%26%3B', [['a', '+&;']]],
    ['a=%C3%B6', [['a', 'ö']]],
    ['a=%00', [['a', '\0']]],
    ['__proto__=x', [['__proto__', 'x']]],
    // Parameters that Go drops because of a semicolon.
    ['a=1;b=2&c=3', [['c', '3']], semicolon],
    ['a;b', [], semicolon],
    ['a=%zz&c=3', [['c', '3']], encoding],
    ['a=%&c=3', [['c', '3']], encoding],
    ['%4=a', [], encoding],
    ['a=%u0041', [], encoding],
    // Parameters that Go decodes to bytes that are not UTF-8.
    ['a=%FF', [['a', '\ufffd']], utf8],
    ['a=%C0%AF', [['a', '\ufffd\ufffd']], utf8],
    [
      'a=%ED%A0%80&b=1',
      [
        ['a', '\ufffd\ufffd\ufffd'],
        ['b', '1'],
      ],
      utf8,
    ],
  ]
  for (const [query, pairs, problem] of readings) {
    it(`reads ?${query}`, () => {
      const parameters = new QueryParameters(query)
      expect([...parameters]).to.deep.equal(pairs)
      expect(parameters.size).to.equal(pairs.length)
      expect(parameters.problem).to.equal(problem)
      if (problem !== undefined) {
        const rejection = { code: 400, reason: 'BadRequest', message: problem }
        expect(thrownFields(() => parameters.rejectAmbiguous())).to.deep.equal(rejection)
        expect(thrownFields(() => parameters.rejectAmbiguousSelection())).to.deep.equal(rejection)
      }
    })
  }

  it('returns the first value, and all values', () => {
    const parameters = new QueryParameters('a=1&b=&a=2')
    expect([parameters.first('a'), parameters.first('b'), parameters.first('c')]).to.deep.equal([
      '1',
      '',
      null,
    ])
    expect(parameters.getAll('a')).to.deep.equal(['1', '2'])
    expect([parameters.has('a'), parameters.has('A')]).to.deep.equal([true, false])
    expect([parameters.get('b'), parameters.get('c')]).to.deep.equal(['', null])
  })

  const repeated = [
    'fieldSelector=a&fieldSelector=b',
    'fieldSelector=a&fieldSelector=a',
    'fieldSelector=&fieldSelector=',
    'fieldSelector&fieldSelector',
    'fieldSelector=a&x=1&%66ieldSelector=b',
    'fieldSelector=a&fieldSelecto%72=b',
    'fieldselector=a&fieldSelector=b',
    'fieldSelector=a&FIELDSELECTOR=b',
  ]
  for (const query of repeated) {
    it(`rejects ?${query}`, () => {
      const parameters = new QueryParameters(query)
      const refuse = [
        () => parameters.get('fieldSelector'),
        () => parameters.rejectAmbiguous(),
        () => parameters.rejectAmbiguousSelection(),
      ]
      for (const read of refuse) {
        const { code, message } = thrownFields(read)
        expect([code, message.toLowerCase()]).to.deep.equal([400, 'fieldselector is given more than once'])
      }
    })
  }

  it('rejects repeated parameters where each has one value, otherwise only those that affect authorization', () => {
    const parameters = new QueryParameters('command=sh&command=-c&dryRun=All')
    parameters.rejectAmbiguousSelection()
    expect(thrownFields(() => parameters.rejectAmbiguous()).message).to.equal(
      'command is given more than once',
    )
    for (const name of ['fieldSelector', 'labelSelector', 'watch']) {
      const given = new QueryParameters(`${name}=a&command=sh&command=x&${name}=a`)
      expect(thrownFields(() => given.rejectAmbiguousSelection())).to.include({ code: 400 })
    }
  })

  it('parses a selector once, and reports why it is invalid', () => {
    const parameters = new QueryParameters('fieldSelector=a%3Db&labelSelector=a+b')
    expect(parameters.fieldSelector).to.equal(parameters.fieldSelector)
    expect(parameters.fieldSelector).to.deep.equal({
      text: 'a=b',
      requirements: [{ field: 'a', operator: '=', value: 'b' }],
    })
    expect(parameters.labelSelector).to.deep.include({ text: 'a b', requirements: [] })
    expect(parameters.labelSelector.problem).to.include({ code: 400 })
  })

  it('parses a hostile query quickly', () => {
    const startedAt = process.threadCpuUsage()
    for (const query of [
      '&'.repeat(100_000),
      'a=1&'.repeat(50_000),
      '%41'.repeat(50_000),
      '%'.repeat(100_000),
    ]) {
      const parameters = new QueryParameters(query)
      parameters.isRepeated('a')
      expect(parameters.first('b')).to.equal(null)
    }
    expect(process.threadCpuUsage(startedAt).user / 1_000, 'ms of CPU').to.be.below(3_000)
  })

  it('rejects a parameter that is too long for Kapis, and accepts it in proxied requests', () => {
    const long = 'x'.repeat(8 * 1024)
    const given = new QueryParameters(`short=x&fields=${long}`)
    const message = 'the query parameter "fields" is longer than the 8192 characters that are allowed'
    for (const refuse of [() => given.rejectAmbiguous(), () => given.rejectAmbiguousSelection()])
      expect(thrownFields(refuse)).to.deep.equal({ code: 400, reason: 'BadRequest', message })
    expect(given.first('fields')).to.equal(long)
    new QueryParameters(`fields=${long}`, 9_000).rejectAmbiguous()
    new QueryParameters(`a=${long.slice(1)}`).rejectAmbiguous()
  })
})
