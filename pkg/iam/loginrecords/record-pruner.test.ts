import { expect } from 'chai'
import { toPrune } from './record-pruner.ts'

const nowMs = Date.parse('2026-01-02T00:00:00Z')
const record = (name: string, ageSeconds: number, user?: string) => ({
  metadata: {
    name,
    uid: name,
    resourceVersion: '1',
    creationTimestamp: new Date(nowMs - ageSeconds * 1000).toISOString(),
    ...(user === undefined ? {} : { labels: { 'iam.kapis.io/user-ref': user } }),
  },
})

describe('toPrune', () => {
  const rule = { groupDomain: 'kapis.io', retentionSeconds: 100, maxEntries: 2, unknownSeconds: 10 }
  const rows: readonly [string, ReturnType<typeof record>[], string[]][] = [
    ['nothing for no records', [], []],
    ['expired records', [record('old', 101, 'alice'), record('young', 100, 'alice')], ['old']],
    [
      'the oldest records of a user who has too many',
      [record('a1', 3, 'alice'), record('b1', 9, 'bob'), record('a2', 2, 'alice'), record('a3', 1, 'alice')],
      ['a1'],
    ],
    [
      'records of unknown names, sooner',
      [record('x', 11), record('y', 10), record('z', 1), record('w', 2)],
      ['x'],
    ],
  ]
  for (const [what, records, names] of rows) {
    it(`returns ${what}`, () => {
      expect(toPrune(records, rule, nowMs)).to.deep.equal(names)
    })
  }
})
