import { expect } from 'chai'
import { dayMs } from '../partition/day.ts'
import { type PartitionId, partitionId } from '../partition/partition-id.ts'
import { createNamespaceExpiry } from './namespace-expiry.ts'

const rules = [
  { name: 'dev-keep', retentionDays: 5 },
  { name: 'dev-*', retentionDays: 2 },
  { name: 'free', quotaBytes: 1 },
]
const partitions: Readonly<Record<PartitionId, readonly string[]>> = {
  [partitionId(10, 0)]: ['dev-a', 'dev-b'],
  [partitionId(10, 1)]: ['dev-a', 'dev-keep'],
  [partitionId(10, 2)]: ['dev-a', 'free'],
  [partitionId(10, 3)]: ['prod'],
  [partitionId(11, 0)]: ['dev-a'],
}
const ids = Object.keys(partitions)

/**
 * Returns a function that checks the candidates of a day: which were opened, and which have
 * expired.
 */
function createLook() {
  const expiry = createNamespaceExpiry(rules)
  return (day: number) => {
    const nowMs = day * dayMs + 1
    const opened = expiry.candidates(ids, nowMs)
    const isExpired = (id: PartitionId) => expiry.isExpired(id, test => partitions[id]?.find(test), nowMs)
    return {
      opened: opened.map(id => ids.indexOf(id)),
      expired: opened.filter(isExpired).map(id => ids.indexOf(id)),
    }
  }
}

describe('createNamespaceExpiry', () => {
  it('opens a partition when the shortest retention has passed, and again when the next-longer one has', () => {
    const look = createLook()
    expect(look(11)).to.deep.equal({ opened: [], expired: [] })
    expect(look(12)).to.deep.equal({ opened: [0, 1, 2, 3], expired: [0] })
    expect(look(12)).to.deep.equal({ opened: [], expired: [] })
    expect(look(13)).to.deep.equal({ opened: [0, 4], expired: [0, 4] })
    expect(look(14).opened).not.to.include(1)
    expect(look(15)).to.deep.equal({ opened: [0, 1, 4], expired: [0, 1, 4] })
    expect(look(1000).opened).to.deep.equal([0, 1, 4])
  })

  it('recovers after the clock was wrong', () => {
    const look = createLook()
    expect(look(2).opened).to.deep.equal([])
    expect(look(12).expired).to.deep.equal([0])
    expect(look(5).opened).to.deep.equal([])
    expect(look(13).expired).to.deep.equal([0, 4])
  })

  it('retries a damaged partition on the next day', () => {
    const expiry = createNamespaceExpiry(rules)
    const id = partitionId(10, 0)
    const fail = () => {
      throw new Error('unable to open database file')
    }
    for (const day of [12, 13]) {
      expect(expiry.candidates([id], day * dayMs)).to.deep.equal([id])
      expect(() => expiry.isExpired(id, fail, day * dayMs)).to.throw('unable to open')
      expect(expiry.candidates([id], day * dayMs)).to.deep.equal([])
    }
  })

  it('opens no partition if no namespace has its own retention', () => {
    const expiry = createNamespaceExpiry([{ name: '*', quotaBytes: 1 }])
    expect(expiry.candidates(ids, 1000 * dayMs)).to.deep.equal([])
  })
})
