import { expect } from 'chai'
import { jane, startLoopback, toExchange } from '../../apirequest/fixtures.ts'
import { createMemoryStore } from '../../logs/fixtures.ts'
import type { LogStore, RowQuery } from '../../logs/store.ts'
import { withConcurrencyLimits } from './concurrency-limits.ts'
import { unlimitedConcurrency } from './fixtures.ts'

describe('withConcurrencyLimits', () => {
  it('counts each search of a caller, of any kind, until it ends', async () => {
    const users: string[] = []
    let held = 0
    const places = {
      ...unlimitedConcurrency,
      search: (user: string) => {
        users.push(user)
        held += 1
        const leave = () => {
          held -= 1
        }
        return { leave }
      },
    }
    const heldWithin: number[] = []
    const store: LogStore = {
      ...createMemoryStore([]),
      rows: async () => {
        heldWithin.push(held)
        return { rows: [] }
      },
    }
    const filter = { scope: 'everything' } as const
    const limits = { timeoutMs: 1000 }
    const page = { filter, order: 'asc', start: { from: 0 }, size: 1 } as const
    const rows: RowQuery = { ...page, test: { op: 'all' }, pipes: [], fields: undefined }
    const loopback = await startLoopback(async (req, res) => {
      const limited = withConcurrencyLimits(store, places, { ...toExchange(req, res), identity: jane })
      await limited.query({ ...page, withTotal: false }, limits)
      await limited.statistics(filter, limits)
      await limited.histogram(filter, { kind: 'fixed', ms: 1000 }, limits)
      await limited.rows?.(rows, limits)
      res.end()
    })
    await loopback.get('/')
    await loopback.close()
    expect([users, held, heldWithin]).to.deep.equal([['jane', 'jane', 'jane', 'jane'], 0, [1]])
  })
})
