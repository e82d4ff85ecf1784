import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect } from 'chai'
import { openTestStore, useFolder } from '../fixtures.ts'
import { lockFolder } from './folder-lock.ts'

describe('lockFolder', () => {
  const folder = useFolder()
  const taken = () => `${folder()} is in use by another process: only one can store logs in a folder`

  it('rejects a second lock, also from the same process, until the first is released', () => {
    const first = lockFolder(folder())
    expect(() => lockFolder(folder())).to.throw(taken())
    first.release()
    lockFolder(folder()).release()
  })

  it('rejects a lock that another process holds, and succeeds after that process was killed', async function () {
    this.timeout(30_000)
    const child = fork(join(import.meta.dirname, 'folder-lock-fixtures.ts'), [folder()])
    const exited = once(child, 'exit')
    await once(child, 'message')
    const rejection: unknown = await openTestStore(folder()).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(rejection).to.be.instanceOf(Error).with.property('message', taken())
    child.kill('SIGKILL')
    await exited
    const store = await openTestStore(folder())
    expect(await store.check()).to.equal(undefined)
    await store.close()
  })

  it('names the file that it cannot lock', () => {
    expect(() => lockFolder(join(folder(), 'missing'))).to.throw(/missing|unable to open/)
  })
})
