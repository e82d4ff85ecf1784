import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import type { LoginRecord } from './login-record.ts'
import { createRecordWriter } from './record-writer.ts'

const record = (n: number, changes: Partial<LoginRecord> = {}): LoginRecord => ({
  user: { name: `u${n}`, uid: `uid${n}` },
  loginRef: '',
  type: 'Password',
  provider: '',
  source: { address: '192.0.2.1', userAgent: '' },
  success: true,
  reason: '',
  ...changes,
})

describe('createRecordWriter', () => {
  function make(write: (record: LoginRecord) => Promise<void> = async () => undefined) {
    const written: string[] = []
    const lost: string[] = []
    const at = { ms: 0 }
    const writer = createRecordWriter({
      async write(record) {
        await write(record)
        written.push(record.user?.name ?? '')
      },
      lost: error => void lost.push(String(error)),
      now: () => at.ms,
    })
    return { writer, written, lost, at }
  }
  async function settle(waiting: () => number): Promise<void> {
    while (waiting() > 0) await turn()
  }

  it('writes records in order, two concurrently', async () => {
    let running = 0
    let most = 0
    const { writer, written } = make(async () => {
      most = Math.max(most, ++running)
      await turn()
      running--
    })
    for (let i = 0; i < 10; i++) writer.add(record(i))
    expect(writer.waiting()).to.equal(10)
    await settle(writer.waiting)
    expect(written).to.deep.equal(Array.from({ length: 10 }, (_, i) => `u${i}`))
    expect(most).to.equal(2)
  })

  it('drops records when its queue is full', async () => {
    const gate = Promise.withResolvers<void>()
    const { writer, written, lost } = make(() => gate.promise)
    for (let i = 0; i < 300; i++) writer.add(record(i))
    expect(lost).to.have.length(98)
    gate.resolve()
    await settle(writer.waiting)
    expect(written).to.have.length(202)
  })

  it('writes one record for repeated logins of a script within a second', async () => {
    const { writer, written, at } = make()
    for (let i = 0; i < 5; i++) writer.add(record(1))
    writer.add(record(1, { source: { address: '192.0.2.2', userAgent: '' } }))
    at.ms = 1_001
    writer.add(record(1))
    await settle(writer.waiting)
    expect(written).to.have.length(3)
  })

  it('continues after a record that could not be written', async () => {
    const { writer, written, lost } = make(async ({ user }) => {
      if (user?.name === 'u0') throw new Error('refused')
    })
    writer.add(record(0))
    writer.add(record(1))
    await settle(writer.waiting)
    expect([written, lost]).to.deep.equal([['u1'], ['Error: refused']])
  })
})
