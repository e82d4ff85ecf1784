import { expect } from 'chai'
import { thrownFields } from '../../apierrors/fixtures.ts'
import { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import { entry } from '../../resourcecache/fixtures.ts'
import { isSelective, type ListOptions, matchesOptions, parseListOptions } from './list-options.ts'

const parse = (query: string, verb: 'list' | 'watch' = 'list', name = '') =>
  parseListOptions(new QueryParameters(query), verb, { name, namedBy: name === '' ? '' : 'path' })
const defaults: ListOptions = {
  namespace: '',
  labels: [],
  fields: [],
  columns: undefined,
  shards: [],
  resourceVersion: '',
  match: '',
  limit: 0,
  continueToken: '',
  allowWatchBookmarks: false,
  sendInitialEvents: undefined,
  timeoutSeconds: 0,
}
const named = (value: string) => ({ field: 'metadata.name', operator: '=' as const, value })

describe('parseListOptions', () => {
  const valid: readonly [string, 'list' | 'watch', string, Partial<ListOptions>][] = [
    ['', 'list', '', {}],
    ['resourceVersion=&limit=&continue=&labelSelector=&fieldSelector=&timeoutSeconds=', 'list', '', {}],
    ['unknown=1&fieldManager=x', 'list', '', {}],
    ['resourceVersion=0', 'list', '', { resourceVersion: '0' }],
    ['resourceVersion=18446744073709551615', 'list', '', { resourceVersion: '18446744073709551615' }],
    ['limit=500', 'list', '', { limit: 500 }],
    ['limit=500&continue=abc', 'list', '', { limit: 500, continueToken: 'abc' }],
    ['resourceVersion=5&resourceVersionMatch=Exact', 'list', '', { resourceVersion: '5', match: 'Exact' }],
    [
      'resourceVersion=0&resourceVersionMatch=NotOlderThan',
      'list',
      '',
      { resourceVersion: '0', match: 'NotOlderThan' },
    ],
    ['timeoutSeconds=30', 'watch', '', { timeoutSeconds: 30 }],
    ['allowWatchBookmarks=true', 'watch', '', { allowWatchBookmarks: true }],
    ['allowWatchBookmarks', 'watch', '', { allowWatchBookmarks: true }],
    ['allowWatchBookmarks=0', 'watch', '', { allowWatchBookmarks: false }],
    ['allowWatchBookmarks=False', 'watch', '', { allowWatchBookmarks: false }],
    [
      'sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
      'watch',
      '',
      { sendInitialEvents: true, match: 'NotOlderThan' },
    ],
    [
      'sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=5',
      'watch',
      '',
      { sendInitialEvents: false, match: 'NotOlderThan', resourceVersion: '5' },
    ],
    ['fieldSelector=metadata.name=a', 'list', '', { fields: [named('a')] }],
    ['', 'watch', 'n1', { fields: [named('n1')] }],
    ['fieldSelector=metadata.name=n1', 'watch', 'n1', { fields: [named('n1'), named('n1')] }],
    [
      'fieldSelector=metadata.name!=n2',
      'watch',
      'n1',
      { fields: [{ ...named('n2'), operator: '!=' }, named('n1')] },
    ],
    ['limit=-1', 'list', '', { limit: 0 }],
    ['labelSelector=a=b', 'list', '', { labels: [{ key: 'a', operator: 'in', values: ['b'] }] }],
  ]
  for (const [query, verb, name, expected] of valid) {
    it(`reads a ${verb} ${name && `of ${name} `}?${query}`, () => {
      expect(parse(query, verb, name)).to.deep.equal({ ...defaults, ...expected })
    })
  }

  const version = (text: string) =>
    `Invalid value: ${JSON.stringify(text)}: resourceVersion must be a decimal integer without leading zeros`
  const whole = (name: string, text: string) =>
    `${name} must be a whole number of at least 0, not ${JSON.stringify(text)}`
  const malformed: readonly [string, string][] = [
    ['resourceVersion=abc', version('abc')],
    ['resourceVersion=-1', version('-1')],
    ['resourceVersion=007', version('007')],
    ['resourceVersion=00', version('00')],
    ['resourceVersion=1.5', version('1.5')],
    ['resourceVersion=1e3', version('1e3')],
    ['resourceVersion=0x1', version('0x1')],
    ['resourceVersion=+5', version(' 5')],
    ['resourceVersion=18446744073709551616', version('18446744073709551616')],
    ['resourceVersion=99999999999999999999999', version('99999999999999999999999')],
    ['limit=--1', whole('limit', '--1')],
    ['limit=ten', whole('limit', 'ten')],
    ['limit=1.5', whole('limit', '1.5')],
    ['limit=99999999999999999999', whole('limit', '99999999999999999999')],
    ['timeoutSeconds=-1', whole('timeoutSeconds', '-1')],
    ['timeoutSeconds=1h', whole('timeoutSeconds', '1h')],
    ['fieldSelector=x', "invalid selector: 'x'; can't understand 'x'"],
    [
      'fieldSelector=spec.unschedulable=true',
      '"spec.unschedulable" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
    [
      'labelSelector=a b',
      'labelSelector "a b" cannot be parsed: invalid requirement "a b": expected key=value, key in (a,b), key or !key',
    ],
  ]
  for (const [query, message] of malformed) {
    for (const verb of ['list', 'watch'] as const) {
      it(`rejects a ${verb} ?${query} as malformed`, () => {
        expect(thrownFields(() => parse(query, verb))).to.deep.equal({
          code: 400,
          reason: 'BadRequest',
          message,
        })
      })
    }
  }

  for (const selector of ['metadata.name=n2', 'metadata.name!=n1', 'metadata.name=']) {
    it(`rejects ${selector} on the path of n1`, () => {
      expect(thrownFields(() => parse(`fieldSelector=${selector}`, 'watch', 'n1'))).to.deep.equal({
        code: 400,
        reason: 'BadRequest',
        message: "fieldSelector metadata.name doesn't match requested name",
      })
    })
  }

  it('rejects a version next to a continue token, which contains one', () => {
    expect(thrownFields(() => parse('limit=5&continue=x&resourceVersion=5'))).to.deep.equal({
      code: 400,
      reason: 'BadRequest',
      message: 'specifying resource version is not allowed when using continue',
    })
    // With resourceVersion=0, as informers send it, a continue token is allowed.
    expect(parse('limit=5&continue=x&resourceVersion=0')).to.include({ continueToken: 'x' })
  })

  it('rejects contradictory options as kube-apiserver does', () => {
    expect(thrownFields(() => parse('resourceVersionMatch=Exact'))).to.deep.include({
      code: 422,
      reason: 'Invalid',
    })
    expect(thrownFields(() => parse('sendInitialEvents', 'watch'))).to.deep.include({
      code: 422,
      reason: 'Invalid',
    })
    expect(thrownFields(() => parse('sendInitialEvents', 'list'))).to.deep.include({
      code: 422,
      reason: 'Invalid',
    })
  })
})

describe('matchesOptions', () => {
  const web = entry('web-1', { labels: { app: 'web' } })
  const table: readonly [string, string, boolean][] = [
    ['', '', true],
    ['labelSelector=app%3Dweb', '', true],
    ['labelSelector=app%3Ddb', '', false],
    ['fieldSelector=metadata.name%3Dweb-1', '', true],
    ['fieldSelector=metadata.name%3Dweb', '', false],
    ['fieldSelector=metadata.namespace%3D', '', true],
    ['fieldSelector=metadata.namespace%3Dx', '', false],
    ['labelSelector=app&fieldSelector=metadata.name!%3Dweb-1', '', false],
    ['', 'web-1', true],
    ['', 'web-2', false],
    ['labelSelector=!app', 'web-1', false],
  ]
  for (const [query, name, expected] of table) {
    it(`returns ${expected} for ?${query} ${name && `on the path of ${name}`}`, () => {
      const options = parse(query, 'watch', name)
      expect(matchesOptions(options)(web)).to.equal(expected)
      expect(isSelective(options)).to.equal(query !== '' || name !== '')
    })
  }
})
