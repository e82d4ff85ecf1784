import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { Status } from '../../../apierrors/status.ts'
import type { WebSocketEvents } from '../../../http/web-socket-client.ts'
import { startSession } from './session.ts'

type Shell = { readonly events: WebSocketEvents; readonly sent: string[]; readonly did: string[] }

/** Starts a terminal with shells that the test controls. */
async function start(count: number, { refused = -1, highWaterMark = 1_000 } = {}) {
  const shells: Shell[] = []
  const session = await startSession(
    Array.from({ length: count }, (_, index) => async (events: WebSocketEvents) => {
      if (index === refused) throw new Status(403, 'Forbidden', 'no exec')
      const shell: Shell = { events, sent: [], did: [] }
      shells.push(shell)
      return {
        send: async data => void shell.sent.push(`${data[0]} ${data.subarray(1)}`),
        pause: () => void shell.did.push('pause'),
        resume: () => void shell.did.push('resume'),
        close: () => void shell.did.push('close'),
      }
    }),
  )
  const out = new PassThrough({ highWaterMark })
  const say = (index: number, channel: number, body: string | Buffer) =>
    shells[index]?.events.message(Buffer.concat([Buffer.from([channel]), Buffer.from(body)]))
  const end = async (index: number, status?: object) => {
    if (status !== undefined) say(index, 3, JSON.stringify({ kind: 'Status', ...status }))
    shells[index]?.events.closed()
    await turn()
  }
  const read = () => {
    const text: string = out.read()?.toString() ?? ''
    return text
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line))
  }
  return { session, shells, out, say, end, read, attach: () => session.attach(out) }
}

const missing = { status: 'Failure', reason: 'InternalError', message: '"bash": executable file not found' }
const exited = { status: 'Failure', reason: 'NonZeroExitCode', message: 'exit code 1' }

describe('startSession', () => {
  it('sends input and sizes to the shell, and its output to the client', async () => {
    const { session, shells, say, read, attach } = await start(1)
    say(0, 1, 'early ')
    attach()
    await session.receive('{"Op":"resize","Cols":80,"Rows":24}')
    await session.receive('{"Op":"stdin","Data":"ls\\n"}')
    say(0, 1, 'a\r\n')
    expect(shells[0]?.sent).to.deep.equal(['4 {"Width":80,"Height":24}', '0 ls\n'])
    expect(read()).to.deep.equal([
      { Op: 'stdout', Data: 'early ' },
      { Op: 'stdout', Data: 'a\r\n' },
    ])
  })

  it('preserves characters that are split between chunks', async () => {
    const { say, read, attach } = await start(1)
    attach()
    const bytes = Buffer.from('é')
    say(0, 1, bytes.subarray(0, 1))
    say(0, 1, bytes.subarray(1))
    expect(read()).to.deep.equal([{ Op: 'stdout', Data: 'é' }])
  })

  it('tries the next shell, with the terminal size, if the container does not have one', async () => {
    const { session, shells, out, say, end, read, attach } = await start(2)
    attach()
    await session.receive('{"Op":"resize","Cols":80,"Rows":24}')
    await end(0, missing)
    say(1, 1, '$ ')
    expect(shells[1]?.sent).to.deep.equal(['4 {"Width":80,"Height":24}'])
    expect(read()).to.deep.equal([{ Op: 'stdout', Data: '$ ' }])
    await end(1, { status: 'Success' })
    expect([shells.length, out.writableEnded, read()]).to.deep.equal([2, true, []])
  })

  it('sends earlier input to the next shell', async () => {
    const { session, shells, end, attach } = await start(2)
    attach()
    await session.receive('{"Op":"stdin","Data":"l"}')
    await session.receive('{"Op":"stdin","Data":"s\\n"}')
    await end(0, missing)
    await session.receive('{"Op":"stdin","Data":"id\\n"}')
    expect(shells[1]?.sent).to.deep.equal(['0 ls\n', '0 id\n'])
  })

  it('limits the buffered input', async () => {
    const { session, shells, end, read, attach } = await start(2, { highWaterMark: 100_000 })
    attach()
    for (let i = 0; i < 2; i++)
      await session.receive(JSON.stringify({ Op: 'stdin', Data: 'x'.repeat(40_000) }))
    await end(0, missing)
    expect([shells.length, read()]).to.deep.equal([1, [{ Op: 'toast', Data: missing.message }]])
  })

  it('reports why no shell runs', async () => {
    const { out, end, read, attach } = await start(1)
    attach()
    await end(0, missing)
    expect(read()).to.deep.equal([{ Op: 'toast', Data: missing.message }])
    expect(out.writableEnded).to.equal(true)
  })

  it('reports why the next shell cannot be started', async () => {
    const { end, read, attach } = await start(2, { refused: 1 })
    attach()
    await end(0, missing)
    expect(read()).to.deep.equal([{ Op: 'toast', Data: 'no exec' }])
  })

  it('starts no other shell after one was used, with any exit code', async () => {
    const { session, shells, out, say, end, read, attach } = await start(2)
    attach()
    await session.receive('{"Op":"stdin","Data":"exit 1\\n"}')
    say(0, 1, 'exit 1')
    read()
    await end(0, exited)
    expect([shells.length, read(), out.writableEnded]).to.deep.equal([1, [], true])
  })

  it('pauses while the client does not read', async () => {
    const { shells, say, read, attach } = await start(1, { highWaterMark: 10 })
    attach()
    say(0, 1, 'more than the client takes')
    expect(shells[0]?.did).to.deep.equal(['pause'])
    read()
    await turn()
    expect(shells[0]?.did).to.deep.equal(['pause', 'resume'])
  })

  it('ends the shell when the client disconnects', async () => {
    const { shells, out, attach } = await start(1)
    attach()
    out.destroy()
    await turn()
    expect(shells[0]?.did).to.deep.equal(['close'])
  })

  it('reports an unknown message', async () => {
    const { session, shells, read, attach } = await start(1)
    attach()
    await session.receive('ls')
    expect(read()).to.have.nested.property('[0].Op', 'toast')
    expect(shells[0]?.sent).to.deep.equal([])
  })

  it('fails if the first shell is rejected', async () => {
    const error = await start(1, { refused: 0 }).catch((failure: unknown) => failure)
    expect(error).to.be.instanceOf(Status).with.property('code', 403)
  })
})
