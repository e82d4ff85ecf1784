import { expect } from 'chai'
import { thrownFields } from '../../../apierrors/fixtures.ts'
import { defaultLimits } from '../limits.ts'
import { parseBulk } from './parse.ts'

const document = '{"@timestamp":"2020-05-16T16:00:42Z","log":"a","kubernetes":{"namespace_name":"n"}}'
const read = (body: string, index = '') => [...parseBulk(Buffer.from(body), index, defaultLimits)]

describe('parseBulk', () => {
  it('parses actions and documents with any line ending', () => {
    const body = `{"create":{"_index":"logs-2020","_id":"7"}}\r\n${document}\r\n\n{"index":{}}\n${document}`
    const items = read(body, 'of-the-path')
    expect(items.map(({ action, index, id, record }) => [action, index, id, record?.log])).to.deep.equal([
      ['create', 'logs-2020', '7', 'a'],
      ['index', 'of-the-path', '', 'a'],
    ])
  })

  it('ignores other members of an action line', () => {
    const items = read(`{"index":{"_index":"i","pipeline":null},"attempts":0}\n${document}\n`)
    expect(items.map(({ action, index, record }) => [action, index, record?.log])).to.deep.equal([
      ['index', 'i', 'a'],
    ])
  })

  it('reads document IDs that are numbers', () => {
    const ids = ['7', '9007199254740993', 'null']
    const items = read(ids.map(id => `{"create":{"_id":${id}}}\n${document}\n`).join(''))
    expect(items.map(({ id }) => id)).to.deep.equal(['7', '9007199254740993', ''])
  })

  it('reports each invalid document, and stores the valid ones', () => {
    const body = `{"create":{}}\n{"log":\n{"create":{}}\n${document}\n{"index":{"_id":"x"}}\n[]\n`
    expect(read(body).map(({ id, problem }) => [id, problem])).to.deep.equal([
      ['', 'not valid JSON'],
      ['', undefined],
      ['x', 'not a JSON object'],
    ])
  })

  it('rejects actions that would change lines, and skips the document of an update', () => {
    const body = `{"delete":{"_id":"1"}}\n{"update":{"_id":"2"}}\n{"doc":{}}\n{"create":{}}\n${document}\n`
    expect(read(body).map(({ action, problem }) => [action, problem])).to.deep.equal([
      ['delete', 'delete is not supported: log lines cannot be changed; use create or index'],
      ['update', 'update is not supported: log lines cannot be changed; use create or index'],
      ['create', undefined],
    ])
  })

  const updates: Readonly<Record<string, string | undefined>> = {
    [`{"doc":${document},"doc_as_upsert":true}`]: 'a',
    [` { "doc_as_upsert" : true , "doc" : ${document} } `]: 'a',
    [`{"script":{"source":"x"},"upsert":${document}}`]: 'a',
    [`{"doc":{"log":"b"},"upsert":${document}}`]: 'a',
    [`{"doc":${document},"doc_as_upsert":false}`]: undefined,
    [`{"doc":${document}}`]: undefined,
    [`[${document}]`]: undefined,
    '{"doc_as_upsert":true}': undefined,
  }
  for (const [update, log] of Object.entries(updates)) {
    it(`${log === undefined ? 'rejects' : 'stores the document of'} the update ${update.slice(0, 40)}`, () => {
      const [item] = read(`{"update":{"_id":"1"}}\n${update}\n`)
      const problem = 'update is not supported: log lines cannot be changed; use create or index'
      expect([item?.action, item?.record?.log, item?.problem]).to.deep.equal([
        ...['update', log],
        log === undefined ? problem : undefined,
      ])
    })
  }

  it('keeps all digits of an update, and reports an invalid one', () => {
    const body =
      '{"update":{}}\n{"doc":{"n":9007199254740993},"doc_as_upsert":true}\n{"update":{}}\n{"doc":\n'
    expect(read(body).map(({ record, problem }) => record?.fields ?? problem)).to.deep.equal([
      { n: 9_007_199_254_740_993n },
      'not valid JSON',
    ])
  })

  it('reads actions after a byte order mark', () => {
    const items = read(`\ufeff{"create":{}}\n${document}\n\ufeff{"create":{}}\n${document}\n`)
    expect(items.map(({ record }) => record?.log)).to.deep.equal(['a', 'a'])
  })

  it('accepts an empty body', () => expect(read('\n\n')).to.deep.equal([]))

  const expected = 'expected an action such as {"create":{}}, and the document on the next line'
  const malformed: Readonly<Record<string, string>> = {
    [document]: `line 1: not an action; ${expected}`,
    [`{"create":{}}\n${document}\nnonsense`]: `line 3: not valid JSON; ${expected}`,
    '{"create":{},"index":{}}': `line 1: not an action; ${expected}`,
    '{"create":1}': `line 1: not an action; ${expected}`,
    '[]': `line 1: not an action; ${expected}`,
    '{"__proto__":{}}': `line 1: not an action; ${expected}`,
    '{"create":{}}\n': 'line 1: the document after the last action is missing',
  }
  for (const [body, message] of Object.entries(malformed)) {
    it(`rejects the whole body ${JSON.stringify(body).slice(0, 50)}`, () => {
      expect(thrownFields(() => read(body))).to.deep.equal({ code: 400, reason: 'BadRequest', message })
    })
  }
})
