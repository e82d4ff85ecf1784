import { expect } from 'chai'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { createRegistry } from './metrics.ts'

describe('observeProcess', () => {
  it('tells what prom-client tells by default, in the same words', async () => {
    const theirs = new Registry()
    collectDefaultMetrics({ register: theirs })
    const told = async (registry: Registry) =>
      (await registry.getMetricsAsJSON()).map(({ name, help, type }) => ({ name, help, type }))
    const names = new Set((await told(theirs)).map(({ name }) => name))
    expect(names.size).to.be.above(20)
    expect(await told(createRegistry())).to.have.deep.members(await told(theirs))
  })

  it('counts the CPU from scrape to scrape', async () => {
    const registry = createRegistry()
    const seconds = async () => {
      const [, value = ''] = /^process_cpu_seconds_total (\S+)$/m.exec(await registry.metrics()) ?? []
      return Number(value)
    }
    const first = await seconds()
    for (const until = performance.now() + 100; performance.now() < until; );
    const second = await seconds()
    expect(second - first).to.be.above(0.01)
  })
})
