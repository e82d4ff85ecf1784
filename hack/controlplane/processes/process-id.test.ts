import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { identify, isAlive, processStamp, stopProcess } from './process-id.ts'

describe('processStamp', () => {
  it('is constant for a process, and undefined for one that has exited', () => {
    expect(processStamp(process.pid)).to.match(/./)
    expect(processStamp(process.pid)).to.equal(processStamp(process.pid))
    expect(processStamp(spawnSync('true').pid)).to.equal(undefined)
  })
})

describe('stopProcess', () => {
  /** Starts a script, which prints a process ID or another line when it is ready to be stopped. */
  const start = async (script: string) => {
    const child = spawn('sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
    const [printed] = await once(child.stdout, 'data')
    return { id: identify(child.pid ?? 0), printed: Number(String(printed)) }
  }

  it('ends a process that listens to SIGTERM', async () => {
    const { id } = await start('echo; exec sleep 60')
    await stopProcess(id)
    expect(isAlive(id)).to.equal(false)
  })

  it('kills a process that ignores SIGTERM, with its process group, after the grace period', async () => {
    const { id, printed } = await start("trap '' TERM; sleep 60 & echo $!; wait; sleep 60")
    const member = identify(printed)
    await stopProcess(id, 100)
    expect(isAlive(id)).to.equal(false)
    // All are killed simultaneously, but each only exits when it is scheduled.
    while (isAlive(member)) await sleep(20)
  })

  it('does not end a later process with the same PID', async () => {
    const { id } = await start('echo; exec sleep 60')
    await stopProcess({ ...id, stamp: '1' })
    expect(isAlive(id)).to.equal(true)
    await stopProcess(id)
  })
})
