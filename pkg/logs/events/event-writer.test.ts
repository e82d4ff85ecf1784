import { expect } from 'chai'
import { unavailable } from '../../apierrors/status.ts'
import { silent } from '../../iam/fixtures.ts'
import { until } from '../../kubeclient/fixtures.ts'
import { record } from '../fixtures.ts'
import type { LogBatch } from '../store.ts'
import { EventWriter } from './event-writer.ts'

describe('EventWriter', () => {
  function start(bufferEvents: number, failures = 0) {
    const batches: LogBatch[] = []
    let left = failures
    let lost = 0
    const writer = new EventWriter({
      store: {
        append: async batch => {
          left -= 1
          if (left >= 0) throw unavailable('away')
          batches.push(batch)
          return { duplicate: false, rejected: [] }
        },
      },
      bufferEvents,
      logger: silent,
      lost: count => {
        lost += count
      },
    })
    const write = (...ids: readonly string[]) => {
      for (const id of ids) writer.write({ record: record({ log: id }), id })
    }
    return { writer, write, batches, lost: () => lost, ids: () => batches.flatMap(({ ids }) => ids ?? []) }
  }

  it('stores what comes together in one batch, each under its id', async () => {
    const { writer, write, batches } = start(10)
    write('a', 'b')
    await until(() => batches.length > 0)
    write('c')
    await until(() => batches.length > 1)
    expect(batches.map(({ ids, records }) => [ids, records.map(({ log }) => log)])).to.deep.equal([
      [
        ['a', 'b'],
        ['a', 'b'],
      ],
      [['c'], ['c']],
    ])
    await writer.stop()
  })

  it('keeps what a store does not take until it does, in order', async () => {
    const { writer, write, ids, lost } = start(10, 1)
    write('a', 'b')
    await until(() => ids().length === 2)
    expect([ids(), lost()]).to.deep.equal([['a', 'b'], 0])
    await writer.stop()
  })

  it('counts what it has no place for', async () => {
    const { writer, write, ids, lost } = start(2)
    write('a', 'b', 'c')
    await until(() => ids().length === 2)
    expect([ids(), lost()]).to.deep.equal([['a', 'b'], 1])
    await writer.stop()
  })

  it('stores what waits when it is stopped, and gives up on a store that is away', async () => {
    const good = start(10)
    good.write('a')
    await good.writer.stop()
    good.write('late')
    expect(good.ids()).to.deep.equal(['a'])
    const bad = start(10, 100)
    bad.write('a', 'b')
    await bad.writer.stop()
    expect([bad.ids(), bad.lost()]).to.deep.equal([[], 2])
  })
})
