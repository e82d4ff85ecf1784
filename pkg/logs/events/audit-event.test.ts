import { expect } from 'chai'
import { createMemoryStore } from '../fixtures.ts'
import { auditEvents, toAuditRecord } from './audit-event.ts'
import { longestEntry } from './event-record.ts'
import { auditEvent } from './fixtures.ts'

const auditText = (given: object = {}) => JSON.stringify(auditEvent(given))

describe('toAuditRecord', () => {
  it('stores the event with its time and its path', () => {
    const { log, fields, ...rest } = toAuditRecord(auditText())
    expect(rest).to.deep.equal({
      timeNs: 1_589_644_842_608_000_000n,
      namespace: 'shop',
      pod: '',
      container: '',
      host: '',
      dockerId: '',
    })
    expect(log).to.equal(auditText())
    expect(fields).to.deep.equal({
      ...{ auditID: 'one', stage: 'ResponseComplete', level: 'Metadata', verb: 'get', user: 'alice' },
      group: ['devs', 'system:authenticated'],
      sourceIP: ['10.1.2.3'],
      ...{ name: 'web-0', resource: 'pods', code: '200', status: 'Success' },
    })
  })

  it('stores the text of the event', () => {
    const body = '"requestObject":{"b":9223372036854775807,"10":1.0,"9":"\\u003c"}'
    const json = auditText({ requestObject: 0 }).replace('"requestObject":0', body)
    expect(toAuditRecord(json).log).to.equal(json)
  })

  it('has no namespace if the path only resembles a path with a namespace', () => {
    const objectRef = { resource: 'pods', namespace: 'A_b'.repeat(400) }
    expect(toAuditRecord(auditText({ objectRef })).namespace).to.equal('')
  })

  const long = 'x'.repeat(90_000)
  const tooLong: Readonly<Record<string, object>> = {
    'the body': { requestObject: { data: long }, responseObject: { data: long } },
    'the path': { requestURI: `/${long}` },
    'the object name': { objectRef: { namespace: 'shop', resource: 'pods', name: long } },
    'the user agent': { userAgent: long },
    'groups, and characters that JSON escapes': {
      user: { username: 'alice', groups: Array.from({ length: 500 }, () => '"\\'.repeat(300)) },
      userAgent: '"\\'.repeat(40_000),
      requestURI: '\u0001'.repeat(40_000),
    },
  }
  for (const [what, given] of Object.entries(tooLong)) {
    it(`can be found by its fields although a caller makes ${what} long`, () => {
      const { log, fields } = toAuditRecord(auditText(given))
      expect(log.length).to.be.at.most(longestEntry)
      expect(fields).to.include({ user: 'alice', verb: 'get', code: '200' })
      expect(JSON.stringify(fields).length).to.be.below(500_000)
      expect(JSON.parse(log)).to.deep.include({
        auditID: 'one',
        annotations: { 'audit.k8s.io/truncated': 'true' },
      })
    })
  }

  it('describes the result for each status code', () => {
    const statusOf = (responseStatus: object) => toAuditRecord(auditText({ responseStatus })).fields?.status
    expect([{ code: 201 }, { code: 403, status: 'Failure' }, { code: 500 }, {}].map(statusOf)).to.deep.equal([
      'Success',
      'Failure',
      'Failure',
      undefined,
    ])
  })

  it('counts requests, not the events of each request', async () => {
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
