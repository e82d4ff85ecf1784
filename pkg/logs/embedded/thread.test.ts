import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Status } from '../../status/status.ts'
import { createThread, type Thread } from './thread.ts'

type Said = { readonly threadId: number; readonly told: readonly unknown[] }

describe('createThread', () => {
  let greeted: number
  let thread: Thread

  const create = (idleMs?: number): void => {
    greeted = 0
    thread = createThread({
      script: new URL('./thread-fixtures.ts', import.meta.url),
      heapMb: 64,
      youngMb: 6,
      greet: () => ({ greeting: ++greeted }),
      ...(idleMs === undefined ? {} : { idleMs }),
      onBreak: error => console.error(error),
    })
  }
  afterEach(() => thread.stop())

  const ask = async (question: object = {}): Promise<Said> => (await thread.ask(question).answer) as Said
  const statusOf = (answer: Promise<unknown>): Promise<unknown> =>
    answer.then(
      () => undefined,
      error => (error instanceof Status ? { code: error.code, message: error.message } : error),
    )
  const interrupted = { code: 503, message: 'the log store was interrupted; try again' }

  it('starts with the first question, and is told nothing before but the greeting', async () => {
    create()
    thread.tell({ dropped: true })
    expect(await thread.update({ dropped: true })).to.equal(undefined)
    expect(greeted).to.equal(0)
    expect((await ask()).told).to.deep.equal([{ greeting: 1 }])
    thread.tell({ kept: true })
    expect(((await thread.update({})) as Said).told).to.deep.equal([{ greeting: 1 }, { kept: true }])
  })

  it('stops when it had nothing to do for a while, and starts again with the next question', async () => {
    create(20)
    const { threadId } = await ask()
    while ((await thread.update({ waitMs: 0 })) !== undefined) await sleep(60)
    const again = await ask()
    expect(again.threadId).not.to.equal(threadId)
    expect(again.told).to.deep.equal([{ greeting: 2 }])
  })

  it('goes on while a question is open, however long it takes', async () => {
    create(20)
    const [long] = await Promise.all([ask({ waitMs: 400 }), ask()])
    expect(long.told).to.deep.equal([{ greeting: 1 }])
    expect(greeted).to.equal(1)
  })

  it('answers 503 when it breaks meanwhile, and starts anew with the next question', async () => {
    create()
    await ask()
    expect(await statusOf(ask({ say: 'break' }))).to.deep.equal(interrupted)
    expect((await ask()).told).to.deep.equal([{ greeting: 2 }])
  })

  it('starts no more once it was stopped', async () => {
    create()
    const open = statusOf(ask({ waitMs: 10_000 }))
    await thread.stop()
    expect(await open).to.deep.equal(interrupted)
    expect(await statusOf(ask())).to.deep.equal(interrupted)
    expect(greeted).to.equal(1)
  })
})
