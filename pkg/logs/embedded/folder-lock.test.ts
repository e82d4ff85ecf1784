import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createEmbeddedStore } from './embedded-store.ts'
import { lockFolder } from './folder-lock.ts'

describe('lockFolder', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kapis-lock-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  const taken = () => `${folder}: another process keeps its logs in this folder, and only one can at a time`

  it('refuses a second holder, of the same process too, until it is released', () => {
    const first = lockFolder(folder)
    expect(() => lockFolder(folder)).to.throw(taken())
    first.release()
    lockFolder(folder).release()
  })

  it('refuses while another process has it, and is free once that was killed', async function () {
    this.timeout(30_000)
    const child = fork(join(import.meta.dirname, 'folder-lock-fixtures.ts'), [folder])
    const exited = once(child, 'exit')
    await once(child, 'message')
    const open = () =>
      createEmbeddedStore({
        folder,
        retention: { days: 7, bytes: 1e9 },
        memoryBytes: 128 * 1024 * 1024,
        report: () => undefined,
      })
    const refusal: unknown = await open().then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(refusal).to.be.instanceOf(Error).with.property('message', taken())
    child.kill('SIGKILL')
    await exited
    const store = await open()
    expect(await store.check()).to.equal(undefined)
    await store.close()
  })

  it('says which file cannot be locked', () => {
    const file = join(folder, 'missing')
    expect(() => lockFolder(file)).to.throw(/missing|unable to open/)
  })
})
