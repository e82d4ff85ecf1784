import { getPriority } from 'node:os'
import { expect } from 'chai'
import { Status } from '../../../apierrors/status.ts'
import { type Child, createChild } from './child.ts'

describe('createChild', () => {
  let child: Child
  let notices: unknown[]
  let exits: string[]

  function create(settings: object = {}): Child {
    notices = []
    exits = []
    child = createChild({
      ...{ name: 'child-test', settings, heapMegabytes: 64, nice: 7 },
      onNotice: notice => notices.push(notice),
      onExit: error => exits.push(error.message),
    })
    return child
  }
  afterEach(() => child.stop())

  type ChildReport = {
    readonly pid: number
    readonly received: readonly string[]
    readonly keys: readonly string[]
  }
  const describeChild = async (): Promise<ChildReport> =>
    (await child.request({ kind: 'describe' })) as ChildReport
  const errorOf = (response: Promise<unknown>): Promise<unknown> =>
    response.then(
      () => undefined,
      (error: unknown) => error,
    )
  const interrupted = 'the log store was interrupted; try again'

  it('starts the process with the first request, at a lower priority, and passes no secret to it', async () => {
    create()
    process.env.KAPIS_SECRET_OF_TEST = 'x'
    const { pid, keys } = await describeChild()
    delete process.env.KAPIS_SECRET_OF_TEST
    expect(pid).not.to.equal(process.pid)
    expect(getPriority(pid)).to.equal(getPriority() + 7)
    expect(keys).to.include('PATH')
    expect(keys.filter(key => key.startsWith('KAPIS'))).to.deep.equal([])
  })

  it('returns errors of the process, with the status of those that are meant for the caller', async () => {
    create()
    const refused = await errorOf(child.request({ kind: 'throw' }))
    expect(refused).to.be.instanceOf(Status).with.property('code', 400)
    const broken = await errorOf(child.request({ kind: 'break' }))
    expect(broken).to.be.instanceOf(Error).with.property('message', 'broken')
  })

  it('returns 503 when the process exits during a request, logs it, and restarts the process for the next request', async () => {
    create()
    const { pid } = await describeChild()
    const left = await errorOf(child.request({ kind: 'exit' }))
    expect(left).to.be.instanceOf(Status).with.property('message', interrupted)
    expect(exits).to.deep.equal(['the child-test process of the log store ended with 7'])
    expect((await describeChild()).pid).not.to.equal(pid)
  })

  it('sends the cancellation of a request to the process, and does not wait for a response', async () => {
    create()
    await child.start()
    const leaving = new AbortController()
    const left = errorOf(child.request({ kind: 'wait', ms: 60_000 }, leaving.signal))
    leaving.abort(new Error('gone'))
    expect(await left).to.have.property('message', 'gone')
    expect((await describeChild()).received).to.deep.equal(['wait', 'cancel', 'describe'])
    const late = child.request({ kind: 'wait' }, AbortSignal.abort(new Error('late')))
    expect(await errorOf(late)).to.have.property('message', 'late')
  })

  it('handles notifications that the process sends without a request', async () => {
    create()
    await child.start()
    child.request({ kind: 'notify' }).catch(() => undefined)
    await describeChild()
    expect(notices).to.deep.equal([{ kind: 'notify' }])
  })

  it('reports why the process does not start', async () => {
    create({ fails: 'no such folder' })
    expect(await errorOf(child.start())).to.have.property('message', 'no such folder')
  })

  it('does not restart the process after it was stopped', async () => {
    create()
    const open = errorOf(child.request({ kind: 'wait', ms: 60_000 }))
    await child.start()
    await child.stop()
    expect(await open).to.have.property('message', interrupted)
    expect(await errorOf(child.request({ kind: 'wait' }))).to.have.property('message', interrupted)
    expect(exits).to.deep.equal([])
  })
})
