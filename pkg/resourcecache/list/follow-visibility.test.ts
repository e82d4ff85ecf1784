import { Writable } from 'node:stream'
import { expect } from 'chai'
import { until } from '../../kubeclient/fixtures.ts'
import { event, node, storeOf } from '../fixtures.ts'
import { followVisibility } from './follow-visibility.ts'

const many = Array.from({ length: 10_000 }, (_, i) => `n${i}`)

/** Starts a watch of the nodes with the given names, which the test can change. */
function start(names: readonly string[], out = new Writable({ write: (_chunk, _encoding, done) => done() })) {
  const state = { names: new Set(names) }
  const store = storeOf(many.map(name => node(name)))
  const sent: string[] = []
  let listener = () => undefined
  const stop = followVisibility(
    store,
    {
      key: '',
      has: ({ name }) => state.names.has(name),
      onChange(given) {
        listener = given as () => undefined
        return () => undefined
      },
    },
    {
      matches: () => true,
      out,
      send(type, entry) {
        sent.push(`${type} ${entry.name}@${entry.version}`)
        out.write(Buffer.alloc(100))
      },
    },
  )
  const show = (...given: readonly string[]) => {
    state.names = new Set(given)
    listener()
  }
  return { store, sent, show, stop }
}

describe('followVisibility', () => {
  it('sends 10,000 objects in time slices', async () => {
    const { sent, show, stop } = start([])
    show(...many)
    expect(sent.length).to.be.below(10_000)
    let longestMs = 0
    let since = performance.now()
    while (sent.length < 10_000) {
      await new Promise(resolve => setImmediate(resolve))
      longestMs = Math.max(longestMs, performance.now() - since)
      since = performance.now()
    }
    expect(longestMs).to.be.below(500)
    expect(new Set(sent).size).to.equal(10_000)
    stop()
  })

  it('waits for a client that does not read', async () => {
    const held = { release: (): void => undefined }
    const out = new Writable({
      highWaterMark: 1_000,
      write: (_chunk, _encoding, done) => {
        held.release = done
      },
    })
    const { sent, show } = start([], out)
    show(...many)
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(sent.length).to.equal(10)
    const timer = setInterval(() => held.release(), 0)
    await until(() => sent.length > 50)
    clearInterval(timer)
    out.destroy()
    const { length } = sent
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(sent.length).to.be.below(length + 10)
  })

  it('sends an object in its previous state that is hidden and changes before it is sent', async () => {
    const { store, sent, show } = start(many)
    show()
    const last = many.at(-1) ?? ''
    store.apply([event('MODIFIED', node(last, { version: 11 }))])
    await until(() => sent.length === 10_000)
    expect(sent.filter(each => each.includes(`${last}@`))).to.deep.equal([`DELETED ${last}@1`])
  })

  it('evaluates again when the visibility changes in the meantime', async () => {
    const { sent, show } = start([])
    show(...many)
    show('n1')
    const shown = () => {
      const names = new Set<string>()
      for (const each of sent) {
        const [type, name = ''] = each.split(' ')
        if (type === 'ADDED') names.add(name)
        else names.delete(name)
      }
      return [...names]
    }
    await until(() => sent.includes('ADDED n1@1') && shown().length === 1)
    expect(shown()).to.deep.equal(['n1@1'])
  })
})
