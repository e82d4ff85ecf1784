import { expect } from 'chai'
import { unavailable } from '../apierrors/status.ts'
import type { WebSocketEvents } from '../http/web-socket-client.ts'
import { openRecorded } from './open-recorded.ts'
import { createReadAhead, type ReadAhead } from './read-ahead.ts'
import type { Recording } from './recorder.ts'

const turn = () => new Promise(resolve => setTimeout(resolve, 5))

describe('openRecorded', () => {
  let calls: string[] = []
  let upstream: WebSocketEvents | undefined
  let gate: Promise<void> = Promise.resolve()
  let readAhead: ReadAhead
  const recording: Recording = {
    output: async (stream, data) => {
      await gate
      calls.push(`${stream} ${data}`)
    },
    resize: async (width, height) => void calls.push(`size ${width}x${height}`),
    end: async () => void calls.push('end'),
  }
  const open = async (start: () => Promise<Recording> = async () => recording) =>
    openRecorded({
      open: async events => {
        upstream = events
        events.message(Buffer.from('\x01early'))
        return {
          send: async data => void calls.push(`send ${data[0]}`),
          pause: () => calls.push('pause'),
          resume: () => calls.push('resume'),
          close: () => calls.push('close'),
        }
      },
      start,
      events: {
        message: data => calls.push(`passed ${data[0]} ${data.subarray(1)}`),
        closed: () => calls.push('closed'),
      },
      readAhead,
      notice: 'recorded',
      failed: error => calls.push(`failed ${error}`),
    })

  beforeEach(() => {
    calls = []
    gate = Promise.resolve()
    readAhead = createReadAhead(100)
  })

  it('sends a notice first, then the recorded output in order', async () => {
    await open()
    upstream?.message(Buffer.from('\x02late'))
    upstream?.message(Buffer.from('\x03{}'))
    await turn()
    upstream?.closed()
    await turn()
    expect(calls.filter(call => call !== 'pause' && call !== 'resume')).to.deep.equal([
      ...['passed 1 recorded', 'stdout early', 'passed 1 early', 'stderr late', 'passed 2 late'],
      ...['passed 3 {}', 'closed', 'end'],
    ])
  })

  it('reads ahead of the recording', async () => {
    await open()
    await turn()
    calls = []
    const { promise, resolve } = Promise.withResolvers<void>()
    gate = promise
    for (const text of ['a', 'b', 'c']) upstream?.message(Buffer.from(`\x01${text}`))
    upstream?.closed()
    await turn()
    expect(calls).to.deep.equal([])
    resolve()
    await turn()
    expect(calls.filter(call => call !== 'resume')).to.deep.equal([
      ...['stdout a', 'passed 1 a', 'stdout b', 'passed 1 b', 'stdout c', 'passed 1 c', 'closed', 'end'],
    ])
  })

  it('pauses while too much output of all sessions waits, or the client does not read', async () => {
    const connection = await open()
    await turn()
    calls = []
    const { promise, resolve } = Promise.withResolvers<void>()
    gate = promise
    readAhead.hold(99)
    upstream?.message(Buffer.from('\x01a'))
    connection.pause()
    connection.resume()
    expect(calls).to.deep.equal(['pause', 'pause'])
    connection.pause()
    resolve()
    await turn()
    expect(calls).to.deep.equal(['pause', 'pause', 'pause', 'stdout a', 'passed 1 a'])
    connection.resume()
    expect(calls.at(-1)).to.equal('resume')
    expect(readAhead.hold(1)).to.equal(true)
  })

  it('records terminal sizes, and passes on everything', async () => {
    const connection = await open()
    await connection.send(Buffer.from('\x04{"Width":100,"Height":30}'))
    await connection.send(Buffer.from('\x00ls'))
    expect(calls.filter(call => /^(size|send)/.test(call))).to.deep.equal(['size 100x30', 'send 4', 'send 0'])
  })

  it('closes a connection that cannot be recorded, without passing anything on', async () => {
    await open()
    await turn()
    calls = []
    gate = Promise.reject(unavailable('full'))
    gate.catch(() => undefined)
    upstream?.message(Buffer.from('\x01lost'))
    upstream?.message(Buffer.from('\x03{}'))
    await turn()
    upstream?.closed()
    await turn()
    expect(calls.filter(call => call !== 'pause' && call !== 'resume')).to.deep.equal([
      ...['close', 'close', 'closed', 'end'],
    ])
  })

  it('fails if the recording cannot be started', async () => {
    const error = await open(() => Promise.reject(unavailable('full'))).catch(String)
    upstream?.closed()
    await turn()
    expect(error).to.equal('Status: full')
    expect(calls.filter(call => call === 'close')).to.have.length(2)
    expect(calls.some(call => call.startsWith('passed'))).to.equal(false)
  })
})
