import { expect } from 'chai'
import { createLasting } from './lasting.ts'

describe('createLasting', () => {
  it('tells what takes more than fifteen milliseconds, while nothing else is asked that took less', () => {
    let now = 1000
    const lasting = createLasting(() => now)
    const [first, second] = [{ startedAt: 1000 }, { startedAt: 1010 }]
    expect(lasting.isSo([])).to.equal(false)
    now = 1015
    expect(lasting.isSo([first])).to.equal(false)
    now = 1016
    expect(lasting.isSo([first])).to.equal(true)
    expect(lasting.isSo([first, second])).to.equal(false)
    now = 1026
    expect(lasting.isSo([first, second])).to.equal(true)
    expect(lasting.isSo([])).to.equal(false)
  })

  it('takes what is asked within a second after it for the like', () => {
    let now = 1000
    const lasting = createLasting(() => now)
    now = 1015
    lasting.ended({ startedAt: 1000 })
    expect(lasting.isSo([{ startedAt: now }])).to.equal(false)
    now = 1016
    lasting.ended({ startedAt: 1000 })
    expect(lasting.isSo([{ startedAt: now }])).to.equal(true)
    now = 2015
    expect(lasting.isSo([{ startedAt: now }])).to.equal(true)
    lasting.ended({ startedAt: now })
    now = 2016
    expect(lasting.isSo([{ startedAt: 2015 }])).to.equal(false)
  })
})
