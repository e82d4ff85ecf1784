import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { type Loopback, startLoopback } from '../../apirequest/fixtures.ts'
import { createBodyArrival } from './body-arrival.ts'

describe('createBodyArrival', () => {
  const arrivals: string[] = []
  let loopback: Loopback
  let client: Socket
  const bodies = createBodyArrival()

  before(async () => {
    loopback = await startLoopback(async (req, res) => {
      const arrived = bodies.of(req)
      arrivals.push(arrived === undefined ? 'nothing to wait for' : 'waits')
      await arrived
      const text = Buffer.concat(await req.toArray().catch(() => [])).toString()
      arrivals.push(text.length > 100 ? `${text.length} bytes` : text)
      res.end()
    })
  })
  after(() => loopback.close())
  beforeEach(() => {
    arrivals.length = 0
    client = connect(loopback.port, '127.0.0.1')
  })
  afterEach(() => client.destroy())

  const head = (length: number | 'chunked') =>
    `POST / HTTP/1.1\r\nhost: a\r\n${length === 'chunked' ? 'transfer-encoding: chunked' : `content-length: ${length}`}\r\n\r\n`

  it('does not wait for a request without a body', async () => {
    await loopback.get('/')
    expect(arrivals).to.deep.equal(['nothing to wait for', ''])
  })

  it('waits for all of a short body, which can be read afterwards', async () => {
    client.write(`${head(4)}ab`)
    await sleep(100)
    expect(arrivals).to.deep.equal(['waits'])
    client.write('cd')
    await sleep(100)
    expect(arrivals).to.deep.equal(['waits', 'abcd'])
  })

  it('waits for a chunked body', async () => {
    client.write(`${head('chunked')}2\r\nab\r\n`)
    await sleep(100)
    expect(arrivals).to.deep.equal(['waits'])
    client.write('0\r\n\r\n')
    await sleep(100)
    expect(arrivals).to.deep.equal(['waits', 'ab'])
  })

  it('waits for a long body only until the buffer is full', async () => {
    client.write(head(200_000) + 'x'.repeat(199_999))
    await sleep(200)
    expect(arrivals).to.deep.equal(['waits'])
    client.write('x')
    await sleep(100)
    expect(arrivals).to.deep.equal(['waits', '200000 bytes'])
  })

  it('does not wait for a body over the size limit, which is rejected', async () => {
    client.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000000000000000\r\n\r\n{')
    await sleep(100)
    expect(arrivals).to.deep.equal(['nothing to wait for'])
  })

  it('stops waiting when the client disconnects', async () => {
    client.write(`${head(4)}ab`)
    await sleep(50)
    client.destroy()
    await sleep(100)
    expect(arrivals[0]).to.equal('waits')
    expect(arrivals).to.have.length(2)
  })
})
