import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { MemoryConnection } from './memory-connection.ts'

describe('MemoryConnection', () => {
  it('transfers bytes in both directions until the end', async () => {
    const [a, b] = MemoryConnection.pair()
    a.end('question')
    b.end('answer')
    expect(String(Buffer.concat(await b.toArray()))).to.equal('question')
    expect(String(Buffer.concat(await a.toArray()))).to.equal('answer')
    expect([a.bytesRead, a.bytesWritten, b.bytesRead, b.bytesWritten]).to.deep.equal([6, 8, 8, 6])
  })

  it('buffers no more than the other end reads, even for large chunks', async () => {
    const [a, b] = MemoryConnection.pair()
    a.end(Buffer.alloc(10_000_000, 'x'))
    await sleep(20)
    expect(a.bytesWritten).to.be.below(300_000)
    expect(a.writableFinished).to.equal(false)
    expect(Buffer.concat(await b.toArray()).length).to.equal(10_000_000)
  })

  it('fails if an end is destroyed before it has sent everything', async () => {
    const [a, b] = MemoryConnection.pair()
    a.write('half')
    a.destroy()
    await once(b, 'close')
    expect(b.readableEnded).to.equal(false)
  })

  it('can be read to the end after the other end has ended and closed', async () => {
    const [a, b] = MemoryConnection.pair()
    a.end('all of it')
    await once(a, 'finish')
    a.destroy()
    expect(String(Buffer.concat(await b.toArray()))).to.equal('all of it')
    b.write('into the void')
  })

  it('ends a pending write when the reader disconnects', async () => {
    const [a, b] = MemoryConnection.pair()
    a.write(Buffer.alloc(10_000_000))
    await sleep(5)
    b.destroy()
    await once(a, 'close')
  })
})
