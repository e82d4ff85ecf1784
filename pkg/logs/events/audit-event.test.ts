import { expect } from 'chai'
import { createMemoryStore } from '../fixtures.ts'
import { auditEvents, toAuditRecord } from './audit-event.ts'
import { firstValue, longestEntry, readEntry } from './entry.ts'
import { auditEvent } from './fixtures.ts'

const auditText = (given: object = {}) => JSON.stringify(auditEvent(given))

describe('toAuditRecord', () => {
  it('keeps the event, and when and where it was', () => {
    const { log, ...rest } = toAuditRecord(auditText())
    expect(rest).to.deep.equal({
      timeNs: 1_589_644_842_608_000_000n,
      namespace: 'shop',
      pod: '',
      container: '',
      host: '',
      dockerId: '',
    })
    expect(readEntry(log)).to.equal(auditText())
  })

  it('keeps the text of the event', () => {
    const body = '"requestObject":{"b":9223372036854775807,"10":1.0,"9":"\\u003c"}'
    const json = auditText({ requestObject: 0 }).replace('"requestObject":0', body)
    expect(readEntry(toAuditRecord(json).log)).to.equal(json)
  })

  it('is of no namespace when the path only says something like one', () => {
    const objectRef = { resource: 'pods', namespace: 'A_b'.repeat(400) }
    expect(toAuditRecord(auditText({ objectRef })).namespace).to.equal('')
  })

  const long = 'x'.repeat(9_000)
  const tooLong: Readonly<Record<string, object>> = {
    'the body': { requestObject: { data: long }, responseObject: { data: long } },
    'the path': { requestURI: `/${long}` },
    'the name': { objectRef: { namespace: 'shop', resource: 'pods', name: long } },
    'the agent': { userAgent: long },
    'groups, and signs that JSON writes longer': {
      user: { username: 'alice', groups: Array.from({ length: 500 }, () => '"\\'.repeat(300)) },
      userAgent: '"\\'.repeat(4_000),
      requestURI: '\u0001'.repeat(4_000),
    },
  }
  for (const [what, given] of Object.entries(tooLong)) {
    it(`can be asked for all the same when a caller makes ${what} long`, () => {
      const { log } = toAuditRecord(auditText(given))
      expect(log.length).to.be.at.most(longestEntry)
      expect(['user', 'verb', 'code'].map(name => firstValue(log, name))).to.deep.equal([
        'alice',
        'get',
        '200',
      ])
      expect(JSON.parse(readEntry(log) ?? '')).to.deep.include({
        auditID: 'one',
        annotations: { 'audit.k8s.io/truncated': 'true' },
      })
    })
  }

  it('says of each code what it came to', () => {
    const statusOf = (responseStatus: object) =>
      firstValue(toAuditRecord(auditText({ responseStatus })).log, 'status')
    expect([{ code: 201 }, { code: 403, status: 'Failure' }, { code: 500 }, {}].map(statusOf)).to.deep.equal([
      'Success',
      'Failure',
      'Failure',
      undefined,
    ])
  })

  it('counts requests, however many events each has', async () => {
    const stages = [
      ['one', 'ResponseStarted'],
      ['one', 'ResponseComplete'],
      ['two', 'Panic'],
      ['three', 'ResponseStarted'],
    ]
    const store = createMemoryStore(
      stages.map(([auditID, stage]) => toAuditRecord(auditText({ auditID, stage }))),
    )
    expect(await auditEvents.count(store, { scope: 'everything' }, { timeoutMs: 1000 })).to.deep.equal({
      resources: 2,
      events: 4,
    })
  })
})
