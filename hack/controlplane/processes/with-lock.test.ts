import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { tryLock } from '../../../pkg/files/lock-file.ts'
import { withLock } from './with-lock.ts'

describe('withLock', () => {
  it('waits for the holder, says so once, and releases the lock after success and failure', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kapis-lock-'))
    const lock = join(folder, 'lock')
    const unlock = tryLock(lock)
    expect(tryLock(lock), 'locked twice').to.equal(undefined)
    setTimeout(() => unlock?.(), 50)
    const said: string[] = []
    const failure = await withLock(
      lock,
      line => said.push(line),
      () => Promise.reject(new Error('work')),
    ).catch(error => error)
    expect(failure).to.have.property('message', 'work')
    expect(said).to.deep.equal([`waiting for another process, which holds ${lock}`])
    expect(await withLock(lock, String, async () => 'done')).to.equal('done')
    rmSync(folder, { recursive: true })
  })
})
