import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { checkOAuthReadiness } from './oauth-readiness-check.ts'
import type { Check } from './probes.ts'

describe('checkOAuthReadiness', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kapis-listener-'))
  const over = new AbortController()
  after(() => {
    over.abort()
    rmSync(folder, { recursive: true })
  })
  const follow = (socket: string, patienceMs = 60_000) =>
    checkOAuthReadiness({ socket, signal: over.signal, patienceMs })

  async function untilReady({ problem }: Check): Promise<void> {
    for (const deadline = Date.now() + 20_000; problem() !== undefined && Date.now() < deadline; )
      await sleep(20)
    expect(problem()).to.equal(undefined)
  }

  it('is not ready before a process listens, and stays ready when that process exits', async () => {
    const socket = join(folder, 'late.sock')
    const check = follow(socket)
    await sleep(300)
    expect(check.problem()).to.equal(`kapis-oauth does not listen on ${socket} yet`)
    const server = createServer().listen(socket)
    await once(server, 'listening')
    await untilReady(check)
    server.close()
    await once(server, 'close')
    await sleep(300)
    expect(check.problem()).to.equal(undefined)
  }).timeout(30_000)

  it('is ready if there has been no login for a long time', async () => {
    const check = follow(join(folder, 'never.sock'), 500)
    expect(check.problem()).to.be.a('string')
    await untilReady(check)
  }).timeout(30_000)
})
