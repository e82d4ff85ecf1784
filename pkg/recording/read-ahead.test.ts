import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { createReadAhead, type ReadAhead } from './read-ahead.ts'

describe('createReadAhead', () => {
  const chunk = (text: string) => Buffer.from(text.repeat(1_000))

  it('passes everything on in order, and then the end', async () => {
    const stream = createReadAhead(5_000).createStream()
    for (const text of 'abcdefghij') stream.write(chunk(text))
    stream.end('last')
    expect(Buffer.concat(await stream.toArray()).toString()).to.equal(
      `${[...'abcdefghij'].map(text => text.repeat(1_000)).join('')}last`,
    )
  })

  /** Writes chunks until the stream accepts no more, and returns their number. */
  async function fill(stream: ReturnType<ReadAhead['createStream']>): Promise<number> {
    let accepted = 0
    for (let i = 0; i < 20; i++) stream.write(chunk('x'), () => accepted++)
    await turn()
    return accepted
  }

  it('accepts no more than the limit ahead of the readers of all streams', async () => {
    const { createStream: create } = createReadAhead(5_000)
    const [first, second] = [create(), create()]
    expect(await fill(first)).to.equal(5)
    expect(await fill(second)).to.equal(0)
    // Each stream continues at the speed of its own reader.
    let read = 0
    for await (const data of second) {
      read += data.length
      if (read === 20_000) break
    }
    expect(read).to.equal(20_000)
    first.destroy()
    await turn()
    const third = create()
    expect(await fill(third)).to.equal(5)
  })
})
