import { expect } from 'chai'
import { hotCounter, hotCounterOfPairs } from './hot-counter.ts'
import { createRegistry } from './metrics.ts'

describe('hotCounter', () => {
  function create() {
    const registry = createRegistry()
    const rowOf = hotCounter(registry, { name: 'calls_total', help: 'Calls.', labels: ['kind', 'code'] })
    const lines = async () =>
      (await registry.metrics()).split('\n').filter(line => line.startsWith('calls_total'))
    return { rowOf, lines }
  }

  it('keeps counting between scrapes', async () => {
    const { rowOf, lines } = create()
    const row = rowOf({ kind: 'a', code: '200' })
    for (let i = 0; i < 3; i++) row.inc()
    expect(await lines()).to.deep.equal(['calls_total{kind="a",code="200"} 3'])
    row.inc()
    expect(await lines()).to.deep.equal(['calls_total{kind="a",code="200"} 4'])
    expect(await lines()).to.deep.equal(['calls_total{kind="a",code="200"} 4'])
  })

  it('separates label values, and omits those never counted', async () => {
    const { rowOf, lines } = create()
    rowOf({ kind: 'never', code: '200' })
    rowOf({ kind: 'a', code: '200' }).inc()
    rowOf({ kind: 'a', code: '404' }).inc()
    expect(await lines()).to.deep.equal([
      'calls_total{kind="a",code="200"} 1',
      'calls_total{kind="a",code="404"} 1',
    ])
  })
})

describe('hotCounterOfPairs', () => {
  it('counts each pair of label values', async () => {
    const registry = createRegistry()
    const count = hotCounterOfPairs(registry, {
      name: 'checks_total',
      help: 'Checks.',
      labels: ['method', 'result'],
    })
    count('basic', 'success')
    count('token', 'success')
    count('basic', 'failure')
    count('basic', 'success')
    const lines = (await registry.metrics()).split('\n').filter(line => line.startsWith('checks_total'))
    expect(lines).to.deep.equal([
      'checks_total{method="basic",result="success"} 2',
      'checks_total{method="token",result="success"} 1',
      'checks_total{method="basic",result="failure"} 1',
    ])
  })
})
