import { expect } from 'chai'
import { thrownFields, thrownStatus } from '../../apierrors/fixtures.ts'
import { toKubeStatus } from '../../apierrors/render-kube.ts'
import { QueryParameters } from './query-parameters.ts'
import { parseVersion, parseVersionQuery } from './version-query.ts'

type Verb = 'list' | 'watch'

function parse(text: string, verb: Verb) {
  const query = new QueryParameters(text)
  const sendInitialEvents = query.has('sendInitialEvents')
    ? query.get('sendInitialEvents') === 'true'
    : undefined
  return parseVersionQuery(query, { verb, sendInitialEvents })
}

describe('parseVersionQuery', () => {
  const valid: readonly [string, Verb, ReturnType<typeof parse>][] = [
    ['', 'list', { resourceVersion: '', match: '' }],
    ['', 'watch', { resourceVersion: '', match: '' }],
    ['resourceVersion=&resourceVersionMatch=', 'list', { resourceVersion: '', match: '' }],
    ['resourceVersion=0', 'list', { resourceVersion: '0', match: '' }],
    [
      'resourceVersion=0&resourceVersionMatch=NotOlderThan',
      'list',
      { resourceVersion: '0', match: 'NotOlderThan' },
    ],
    ['resourceVersion=7&resourceVersionMatch=Exact', 'list', { resourceVersion: '7', match: 'Exact' }],
    [
      'resourceVersionMatch=NotOlderThan&sendInitialEvents=true',
      'watch',
      { resourceVersion: '', match: 'NotOlderThan' },
    ],
    [
      'resourceVersion=7&resourceVersionMatch=NotOlderThan&sendInitialEvents=false',
      'watch',
      { resourceVersion: '7', match: 'NotOlderThan' },
    ],
  ]
  for (const [query, verb, expected] of valid) {
    it(`reads a ${verb} ?${query}`, () => expect(parse(query, verb)).to.deep.equal(expected))
  }

  type Why = readonly [kind: 'Forbidden' | 'NotSupported', field: string, text: string]
  const match = 'resourceVersionMatch'
  const forbidden = (text: string, field = match): Why => ['Forbidden', field, `Forbidden: ${text}`]
  const unsupported = (text: string): Why => ['NotSupported', match, `Unsupported value: ${text}`]
  const unlessVersion = forbidden('resourceVersionMatch is forbidden unless resourceVersion is provided')
  const withContinue = forbidden('resourceVersionMatch is forbidden when continue is provided')
  const exactZero = forbidden('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
  const onList = forbidden('sendInitialEvents is forbidden for list', 'sendInitialEvents')
  const unlessInitial = forbidden(
    'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
  )
  const needsMatch = forbidden('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan')
  const noneOfList = (value: string) =>
    unsupported(`"${value}": supported values: "Exact", "NotOlderThan", ""`)
  const noneOfWatch = (value: string) => unsupported(`"${value}": supported values: "NotOlderThan"`)
  const contradictory: readonly [string, Verb, readonly Why[]][] = [
    ['resourceVersionMatch=NotOlderThan', 'list', [unlessVersion]],
    ['resourceVersionMatch=Exact', 'list', [unlessVersion]],
    ['resourceVersionMatch=foo', 'list', [unlessVersion, noneOfList('foo')]],
    ['resourceVersion=5&resourceVersionMatch=exact', 'list', [noneOfList('exact')]],
    ['resourceVersionMatch=NotOlderThan&resourceVersion=5&continue=x', 'list', [withContinue]],
    ['resourceVersionMatch=Exact&continue=x', 'list', [unlessVersion, withContinue]],
    ['resourceVersionMatch=Exact&resourceVersion=0', 'list', [exactZero]],
    ['sendInitialEvents=true', 'list', [onList]],
    ['sendInitialEvents=false', 'list', [onList]],
    ['resourceVersionMatch=foo&sendInitialEvents=true', 'list', [unlessVersion, noneOfList('foo'), onList]],
    ['resourceVersionMatch=NotOlderThan&resourceVersion=5', 'watch', [unlessInitial]],
    ['resourceVersionMatch=foo', 'watch', [unlessInitial, noneOfWatch('foo')]],
    ['sendInitialEvents=true', 'watch', [needsMatch]],
    ['sendInitialEvents=false', 'watch', [needsMatch]],
    ['sendInitialEvents=true&resourceVersionMatch=Exact', 'watch', [needsMatch, noneOfWatch('Exact')]],
    ['sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=x', 'watch', [withContinue]],
  ]
  for (const [query, verb, whys] of contradictory) {
    it(`rejects a ${verb} ?${query} as kube-apiserver does`, () => {
      const texts = whys.map(([, field, text]) => `${field}: ${text}`)
      expect(toKubeStatus(thrownStatus(() => parse(query, verb)))).to.deep.equal({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: `ListOptions.meta.k8s.io "" is invalid: ${texts.length > 1 ? `[${texts.join(', ')}]` : texts[0]}`,
        reason: 'Invalid',
        details: {
          group: 'meta.k8s.io',
          kind: 'ListOptions',
          causes: whys.map(([kind, field, message]) => ({ reason: `FieldValue${kind}`, message, field })),
        },
        code: 422,
      })
    })
  }
})

describe('parseVersion', () => {
  for (const text of ['', '0', '7', '18446744073709551615']) {
    it(`reads ${JSON.stringify(text)}`, () =>
      expect(parseVersion(new QueryParameters(`resourceVersion=${text}`))).to.equal(text))
  }
  for (const text of ['x', '-1', '007', '00', '1.5', '1e3', '0x1', ' 5', '18446744073709551616']) {
    it(`rejects ${JSON.stringify(text)}`, () =>
      expect(thrownFields(() => parseVersion(new QueryParameters(`resourceVersion=${text}`)))).to.deep.equal({
        code: 400,
        reason: 'BadRequest',
        message: `Invalid value: ${JSON.stringify(text)}: resourceVersion must be a decimal integer without leading zeros`,
      }))
  }
})
