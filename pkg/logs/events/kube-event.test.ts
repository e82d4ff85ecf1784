import { expect } from 'chai'
import type { LogFilter } from '../filter/filter.ts'
import { createMemoryStore } from '../fixtures.ts'
import { longestEntry } from './event-record.ts'
import { kubeEvent, kubeEventRecord } from './fixtures.ts'
import { kubeEvents, toKubeEventRecord, versionOf } from './kube-event.ts'

describe('toKubeEventRecord', () => {
  it('stores the event with its time, its namespace and the kind of its object', () => {
    const event = kubeEvent('a', 7)
    const { log, ...rest } = kubeEventRecord(event)
    expect(rest).to.deep.equal({
      timeNs: 1_589_644_842_000_000_000n,
      namespace: 'shop',
      pod: '',
      container: '',
      host: '',
      dockerId: 'pod-uid',
      fields: {
        ...{ version: 'uid-a/7', kind: 'Pod', name: 'web-0', reason: 'FailedScheduling', type: 'Warning' },
        message: 'no node is free',
      },
    })
    expect(JSON.parse(log)).to.deep.equal({ ...event, kind: 'Event', apiVersion: 'v1' })
    expect(versionOf(event)).to.equal('uid-a/7')
  })

  const times: readonly [what: string, given: object, time: string][] = [
    ['the last timestamp', {}, '2020-05-16T16:00:42Z'],
    [
      'the last time of the series',
      { series: { count: 2, lastObservedTime: '2020-05-16T16:05:00.000001Z' } },
      '2020-05-16T16:05:00.000001Z',
    ],
    [
      'the only timestamp',
      { lastTimestamp: null, eventTime: '2020-05-16T16:01:00.123456Z' },
      '2020-05-16T16:01:00.123456Z',
    ],
    ['the creation timestamp', { lastTimestamp: null, firstTimestamp: null }, '2020-05-16T16:00:00Z'],
  ]
  for (const [what, given, time] of times) {
    it(`uses as time ${what}`, () => {
      const { timeNs } = kubeEventRecord(kubeEvent('a', 1, given))
      expect(Number(timeNs / 1000n)).to.equal(
        Date.parse(time) * 1000 + Number(/\.\d{3}(\d{3})/.exec(time)?.[1] ?? 0),
      )
    })
  }

  it('stores the text of the event on one line', () => {
    const metadata = '"name":"a","uid":"u","resourceVersion":"7","creationTimestamp":"2020-05-16T16:00:00Z"'
    const rest = '"note":"\\u003c","n":9007199254740993,"10":1.0,"9":-0'
    const json = `{"metadata":{${metadata},\n"managedFields":[{}]},\n${rest}}`
    expect(toKubeEventRecord(JSON.parse(json), json).log).to.equal(
      `{"metadata":{${metadata}},${rest},"kind":"Event","apiVersion":"v1"}`,
    )
  })

  it('omits unused fields, and truncates those that are too long for a store', () => {
    const { metadata } = kubeEvent('a', 1)
    const managed = kubeEvent('a', 1, { metadata: { ...metadata, managedFields: [{ manager: 'x' }] } })
    expect(kubeEventRecord(managed).log).to.not.include('managedFields')
    const { log } = kubeEventRecord(kubeEvent('a', 1, { message: `${'long '.repeat(40_000)}end` }))
    expect(log.length).to.be.lessThan(longestEntry)
    expect(JSON.parse(log).message).to.match(/^long .*…$/)
  })

  it('counts the objects of events without iterating over the events', async () => {
    const [pod, node] = ['a', 'b'].map(uid => ({ involvedObject: { kind: 'Pod', namespace: 'shop', uid } }))
    const given = [pod, pod, node, { involvedObject: { kind: 'Pod', namespace: 'shop' } }]
    const memory = createMemoryStore(given.map((one, i) => kubeEventRecord(kubeEvent(`e${i}`, i, one))))
    const store = { ...memory, query: () => Promise.reject(new Error('asked for events')) }
    const count = (filter: LogFilter) => kubeEvents.count(store, filter, { timeoutMs: 1000 })
    expect(await count({ scope: 'everything' })).to.deep.equal({ resources: 2, events: 4 })
    expect(await count({ scope: [] })).to.deep.equal({ resources: 0, events: 0 })
  })
})
