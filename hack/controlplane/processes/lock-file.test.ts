import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { tryLock, unlock, withLock } from './lock-file.ts'
import { identify } from './process-id.ts'

describe('tryLock', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kapis-lock-'))
  after(() => rmSync(folder, { recursive: true }))
  const file = () => join(folder, String(Math.random()))

  it('acquires a free lock, and releases it', () => {
    const lock = file()
    expect(tryLock(lock)).to.equal(undefined)
    expect(existsSync(lock)).to.equal(true)
    unlock(lock)
    expect(existsSync(lock)).to.equal(false)
  })

  it('grants the lock to one holder, also within a process', () => {
    const lock = file()
    expect(tryLock(lock)).to.equal(undefined)
    expect(tryLock(lock)).to.equal(process.pid)
    unlock(lock)
    expect(tryLock(lock)).to.equal(undefined)
  })

  it('names the living process that holds it', () => {
    const lock = file()
    writeFileSync(lock, `${process.ppid} ${identify(process.ppid).stamp}\n`)
    expect(tryLock(lock)).to.equal(process.ppid)
    unlock(lock)
    expect(existsSync(lock), 'not ours to give back').to.equal(true)
  })

  it('takes over the lock of a dead process', () => {
    const lock = file()
    writeFileSync(lock, `${spawnSync('true').pid} 1\n`)
    expect(tryLock(lock)).to.equal(undefined)
  })

  it('takes over the lock if another process now has the PID of the holder', () => {
    const lock = file()
    writeFileSync(lock, `${process.ppid} 1\n`)
    expect(tryLock(lock)).to.equal(undefined)
  })

  it('does not take over a lock file that is being written', () => {
    const lock = file()
    writeFileSync(lock, '')
    expect(tryLock(lock)).to.equal(0)
  })
})

describe('withLock', () => {
  it('waits for the holder, prints its name once, and releases the lock after success and failure', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kapis-lock-'))
    const lock = join(folder, 'lock')
    writeFileSync(lock, `${process.ppid} ${identify(process.ppid).stamp}\n`)
    setTimeout(() => rmSync(lock), 50)
    const said: string[] = []
    const failure = await withLock(
      lock,
      line => said.push(line),
      () => Promise.reject(new Error('work')),
    ).catch(error => error)
    expect(failure).to.have.property('message', 'work')
    expect(said).to.have.length(1)
    expect(said[0]).to.include(`process ${process.ppid}`)
    expect(existsSync(lock)).to.equal(false)
    rmSync(folder, { recursive: true })
  })
})
