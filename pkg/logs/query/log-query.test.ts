import { expect } from 'chai'
import { thrownFields } from '../../apierrors/fixtures.ts'
import { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import { match } from '../filter/expression.ts'
import { parseLogQuery } from './log-query.ts'

const parse = (query: string) =>
  parseLogQuery(new QueryParameters(query), text => {
    throw new Error(`warned: ${text}`)
  })

describe('parseLogQuery', () => {
  it('ignores unknown parameters, and returns a warning', () => {
    const warnings: string[] = []
    const parsed = parseLogQuery(
      new QueryParameters('end_time=5&endTime=9&_=1&namespace=x&a=b&size=3'),
      text => warnings.push(text),
    )
    expect(parsed).to.deep.equal(parse('end_time=5&size=3'))
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.match(
      /^ignored unknown parameters "endTime", "_", "namespace" and 1 more; supported: operation, /,
    )
  })

  it('names the range of a number', () => {
    const messageOf = (query: string) => {
      const { message } = thrownFields(() => parse(query)) ?? {}
      return message
    }
    expect(messageOf('size=abc')).to.equal('size must be a whole number, not "abc"')
    expect(messageOf('from=1e3')).to.equal('from must be a whole number, not "1e3"')
    expect(messageOf('size=10001')).to.match(/^from \+ size must be at most 10000, not 10001; /)
    expect(messageOf('operation=context&cursor=c&before=1001')).to.equal(
      'before must be a whole number from 0 to 1000, not "1001"',
    )
  })

  const invalid: Readonly<Record<string, string>> = {
    'operation=statistics&from=abc': 'from',
    'operation=histogram&size=-1': 'size',
    'operation=export&size=abc': 'size',
    'operation=export&with_cursor=maybe': 'with_cursor',
    'format=bogus': 'format',
    'with_time=maybe': 'with_time',
    'operation=statistics&before=-3': 'before',
    'namespaces=a&namespaces=b': 'namespaces',
  }
  for (const [query, name] of Object.entries(invalid)) {
    it(`rejects ${query}`, () => {
      const rejection = thrownFields(() => parse(query))
      expect(rejection).to.include({ code: 400 })
      expect(rejection)
        .to.have.property('message')
        .that.matches(new RegExp(`^${name} `))
    })
  }

  it('accepts parameters that an operation does not use', () => {
    const given = 'operation=statistics&from=5&size=20000&cursor=c&format=csv&before=3'
    expect(parse(given).operation).to.equal('statistics')
  })

  for (const name of ['pod_query', 'workload_query', 'container_query']) {
    it(`searches for a ${name} without word characters literally`, () => {
      const field = name === 'container_query' ? 'container' : 'pod'
      expect(parse(`${name}=---`).where.expression).to.deep.equal(
        match(field, { kind: 'contains', text: '---', caseSensitive: false }),
      )
    })
  }

  for (const query of [
    'namespaces=a&namespaces=b',
    'namespaces=a&namespaces=a',
    'namespaces=&namespaces=a',
  ]) {
    it(`rejects ?${query}`, () => {
      expect(thrownFields(() => parse(query))).to.deep.include({
        code: 400,
        message: 'namespaces is given more than once',
      })
    })
  }
})
