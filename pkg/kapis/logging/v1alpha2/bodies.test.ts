import { expect } from 'chai'
import { refusalOf } from '../../../status/fixtures.ts'
import { createBodies, createPlaces } from './bodies.ts'

describe('createBodies', () => {
  it('bounds how many there are, until they end', () => {
    const begin = createBodies({ maxBodies: 2, maxBytes: 100 })
    const [first] = [begin(), begin()]
    expect(refusalOf(begin)).to.include({ code: 429, reason: 'TooManyRequests' })
    first.end()
    begin()
  })

  it('bounds what they take together; each takes what it said last', () => {
    const begin = createBodies({ maxBodies: 3, maxBytes: 100 })
    const [first, second] = [begin(), begin()]
    first.hold(30)
    second.hold(40)
    first.hold(60)
    expect(refusalOf(() => second.hold(41))).to.include({ code: 429 })
    first.end()
    second.hold(100)
  })
})

describe('createPlaces', () => {
  it('lets so many work at once, and the others in the order of coming', async () => {
    const { within, areTaken } = createPlaces(2)
    const begun: number[] = []
    const works = Array.from({ length: 4 }, () => Promise.withResolvers<void>())
    const ended = works.map(({ promise }, i) =>
      within(() => {
        begun.push(i)
        return promise
      }),
    )
    ended[1]?.catch(() => undefined)
    expect([begun, areTaken()]).to.deep.equal([[0, 1], true])
    works[1]?.reject(new Error('no'))
    await ended[1]?.catch(() => undefined)
    expect([begun, areTaken()]).to.deep.equal([[0, 1, 2], true])
    for (const { resolve } of works) resolve()
    await Promise.allSettled(ended)
    expect([begun, areTaken()]).to.deep.equal([[0, 1, 2, 3], false])
  })
})
