import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { withFileLock } from './file-lock.ts'

describe('withFileLock', () => {
  let folder: string
  let file: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kapis-lock-'))
    file = join(folder, 'deep', 'login.json')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('runs one callback at a time, and releases the lock after success and failure', async () => {
    let inside = 0
    let most = 0
    const work = async () => {
      most = Math.max(most, ++inside)
      await sleep(5)
      inside--
    }
    await Promise.all(Array.from({ length: 5 }, () => withFileLock(file, work)))
    expect(most).to.equal(1)
    const failed = withFileLock(file, () => {
      throw new Error('failed')
    })
    expect(await failed.catch(String)).to.equal('Error: failed')
    expect(existsSync(`${file}.lock`)).to.equal(false)
  })

  it('leaves no lock file that it could not write', async () => {
    const script = `
      import { withFileLock } from ${JSON.stringify(join(import.meta.dirname, 'file-lock.ts'))}
      console.log(await withFileLock(${JSON.stringify(file)}, () => 'done').catch(({ code }) => code))`
    const limited = ['-c', 'ulimit -f 0 && exec "$@"', 'bash', process.execPath, '--input-type=module', '-e']
    // Without a compile cache, which could not be written either.
    const env = { PATH: process.env.PATH, NODE_DISABLE_COMPILE_CACHE: '1' }
    const { stdout } = spawnSync('bash', [...limited, script], { env, encoding: 'utf8' })
    expect(stdout).to.equal('EFBIG\n')
    expect(existsSync(`${file}.lock`)).to.equal(false)
  })

  it('takes over the lock of a process that was killed', async () => {
    await withFileLock(file, () => undefined)
    writeFileSync(`${file}.lock`, '')
    const longAgo = Date.now() / 1000 - 60
    utimesSync(`${file}.lock`, longAgo, longAgo)
    expect(await withFileLock(file, () => 'done')).to.equal('done')
  })
})
