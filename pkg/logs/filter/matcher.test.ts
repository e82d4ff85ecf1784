import { expect } from 'chai'
import { parsePhrases, parseQuery } from '../query-language/parse.ts'
import type { LogRecord } from '../record.ts'
import { createMatcher } from './matcher.ts'

const record: LogRecord = {
  timeNs: 1_000n,
  log: 'E1121 proxy_server.go:42] Connection refused by 10.0.0.17:443, 连接失败 (ÄRGER)\n',
  namespace: 'shop',
  pod: 'web-5d9c7b8f6-x2x4z',
  container: 'proxy',
  host: 'node-1',
  dockerId: 'abc',
  labels: { app: 'web' },
}

describe('createMatcher', () => {
  const queries: readonly [string, boolean][] = [
    ['connection refused', true],
    ['"connection refused"', true],
    ['"refused connection"', false],
    ['"connection by"', false],
    ['connect', false],
    ['connect*', true],
    ['server', true],
    ['"proxy server go"', true],
    ['10.0.0.17', true],
    ['0.0.1', false],
    ['*ervice*', false],
    ['*erver*', true],
    ['case:Connection', true],
    ['case:connection', false],
    ['ärger', true],
    ['CONNECTİON', true],
    ['失败', true],
    ['败失', false],
    ['"连接失败"', true],
    ['proxy*.go', true],
    ['connection*by', false],
    ['/refused by \\d+(\\.\\d+){3}:/', true],
    ['/Refused/c', false],
    ['/\\)$/', true],
    ['NOT absent', true],
    ['namespace:shop pod:web-*', true],
    ['namespace:sho', false],
    ['pod:WEB-*', true],
    ['pod:web*z', true],
    ['workload:web', true],
    ['workload:we', false],
    ['labels.app:web', true],
    ['labels.tier:*', false],
    ['NOT labels.tier:x', true],
    ['labels.toString:*', false],
    ['host:node-? container:proxy docker_id:abc', true],
  ]
  for (const [q, expected] of queries) {
    it(`${expected ? 'passes' : 'fails'} ${q}`, () => {
      const expression = parseQuery(q)
      expect(createMatcher({ scope: 'everything', ...(expression && { expression }) })(record)).to.equal(
        expected,
      )
    })
  }

  const comparisons: readonly [string, boolean][] = [
    ['status>=500', true],
    ['status>500', false],
    ['status:<501', true],
    ['status<=500', true],
    ['big>9223372036854775806', true],
    ['big>=9223372036854775808', false],
    ['duration<0.5', true],
    ['times>2', true],
    ['times>3', false],
    ['name>0', false],
    ['missing<1', false],
    ['name:WEB', true],
    ['name:we', false],
    ['name:w*', true],
    ['ok:true', true],
    ['NOT missing:*', true],
  ]
  for (const [q, expected] of comparisons) {
    it(`${expected ? 'passes' : 'fails'} ${q} by fields`, () => {
      const expression = parseQuery(q)
      const fields = {
        status: 500,
        big: 9223372036854775807n,
        duration: 0.25,
        times: [1, 3],
        name: 'web',
        ok: true,
      }
      const matches = createMatcher({ scope: 'everything', ...(expression && { expression }) })
      expect(matches({ ...record, fields })).to.equal(expected)
    })
  }

  const forms: Readonly<
    Record<string, { readonly found: readonly string[]; readonly not: readonly string[] }>
  > = {
    'fi?': {
      found: ['fix', 'a fit.', '(FIG)', 'fi9', 'fié', 'x=fin;'],
      not: ['fi', 'fi, x', 'fi: x', 'fi=1', 'fi_x', 'fi', 'fire', 'wifi', 'a fi '],
    },
    '?ing': { found: ['ping', 'a king x', '"ring"'], not: ['(ing', 'ing', 'going', '-ing'] },
    'f??': { found: ['fix', 'a fit'], not: ['f-x', 'fi.', 'f..', 'fire'] },
    'v1.?': { found: ['v1.2', 'v1.x rest'], not: ['v1.', 'v1.. x', 'v1.23'] },
    'f?x': { found: ['fax', 'a fix'], not: ['fx', 'f x', 'faxe'] },
  }
  for (const [q, { found, not }] of Object.entries(forms)) {
    it(`${q} finds whole words of that form`, () => {
      const expression = parseQuery(q)
      const matches = createMatcher({ scope: 'everything', ...(expression && { expression }) })
      expect([...found, ...not].filter(log => matches({ ...record, log }))).to.deep.equal(found)
    })
  }

  const phrases: readonly [string, boolean][] = [
    ['conn', true],
    ['connection ref', true],
    ['conn refused', false],
    ['absent,refus', true],
    ['erver', false],
  ]
  for (const [text, expected] of phrases) {
    it(`${expected ? 'passes' : 'fails'} log_query ${text}`, () => {
      const expression = parsePhrases(text)
      expect(createMatcher({ scope: 'everything', ...(expression && { expression }) })(record)).to.equal(
        expected,
      )
    })
  }

  it('includes the first and the last moment', () => {
    const at = (startNs: bigint, endNs: bigint) =>
      createMatcher({ scope: 'everything', startNs, endNs })(record)
    expect([at(1000n, 1000n), at(1001n, 2000n), at(0n, 999n)]).to.deep.equal([true, false, false])
  })

  it('shows a namespace only from its creation on, and nothing to a caller without access', () => {
    const within = (namespace: string, sinceNs: bigint) =>
      createMatcher({ scope: [{ namespace, sinceNs }] })(record)
    expect([within('shop', 1000n), within('shop', 1001n), within('other', 0n)]).to.deep.equal([
      true,
      false,
      false,
    ])
    expect(createMatcher({ scope: [] })(record)).to.equal(false)
  })
})
