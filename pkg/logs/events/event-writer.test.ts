import { expect } from 'chai'
import { unavailable } from '../../apierrors/status.ts'
import { silent } from '../../iam/fixtures.ts'
import { until } from '../../kubeclient/fixtures.ts'
import { record } from '../fixtures.ts'
import type { LogBatch } from '../store.ts'
import { EventWriter } from './event-writer.ts'

describe('the event writer', () => {
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

  it('stores events that arrive together as one batch, each under its ID', async () => {
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

  it('retries events until the store accepts them, in order', async () => {
    const { writer, write, ids, lost } = start(10, 1)
    write('a', 'b')
    await until(() => ids().length === 2)
    expect([ids(), lost()]).to.deep.equal([['a', 'b'], 0])
    await writer.stop()
  })

  it('counts the events that it drops when its buffer is full', async () => {
    const { writer, write, ids, lost } = start(2)
    write('a', 'b', 'c')
    await until(() => ids().length === 2)
    expect([ids(), lost()]).to.deep.equal([['a', 'b'], 1])
    await writer.stop()
  })

  it('stores pending events when it is stopped, and gives up if the store is unreachable', async () => {
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
