import { expect } from 'chai'
import { collectGarbage } from './collect-garbage.ts'

describe('collectGarbage', () => {
  it('collects unreferenced objects, and no others', async () => {
    const held = { name: 'held' }
    const [kept, lost] = [new WeakRef(held), new WeakRef({ name: 'lost' })]
    // A WeakRef keeps its target alive until the end of the event-loop turn that created it.
    await new Promise(resolve => setTimeout(resolve, 10))
    await collectGarbage()
    expect(lost.deref()).to.equal(undefined)
    expect(kept.deref()).to.equal(held)
  })
})
