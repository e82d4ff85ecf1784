import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { isMessage } from './messages.ts'
import { createCount } from './mocha-process.ts'

describe('a process of tests', () => {
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'kapis-mocha-'))
  })
  after(() => rmSync(folder, { recursive: true }))

  function start(name: string, body: string) {
    const file = join(folder, `${name}.test.mjs`)
    writeFileSync(file, body)
    return fork(join(import.meta.dirname, 'mocha.ts'), ['60000', file], { silent: true })
  }

  async function outcomeOf(child: ChildProcess) {
    const count = createCount()
    child.on('message', message => {
      if (isMessage(message)) count.add(message)
    })
    const [code] = await once(child, 'exit')
    return { code, ...count.outcome('broke off') }
  }

  it('tells its parent how each test ends', async () => {
    const body = `describe('of them', () => {
      it('passes', () => process.send('a message of its own'))
      it('is skipped', function () { this.skip() })
      it('fails', () => { throw new Error('why\\nmore of it') })
    })`
    expect(await outcomeOf(start('some', body))).to.deep.equal({
      code: 1,
      passed: 1,
      failed: 1,
      skipped: 1,
      failures: ['of them fails: why'],
    })
    const code = 0
    expect(await outcomeOf(start('one', "it('passes', () => {})"))).to.deep.equal({
      code,
      passed: 1,
      failed: 0,
      skipped: 0,
      failures: [],
    })
  })

  it('is told to have broken off, where and after how many', async () => {
    const body = "it('passes', () => {}); it('breaks', () => process.exit(7)); it('is left', () => {})"
    expect(await outcomeOf(start('breaks', body))).to.deep.equal({
      code: 7,
      passed: 1,
      failed: 1,
      skipped: 0,
      failures: ['broke off in "breaks"'],
    })
    expect(await outcomeOf(start('imports', "import './nothing.mjs'"))).to.deep.equal({
      code: 1,
      passed: 0,
      failed: 1,
      skipped: 0,
      failures: ['broke off before the first'],
    })
  })

  it('ends when its parent has gone, whatever it waits for', async () => {
    const child = start(
      'waits',
      "it('waits', () => { process.send('waiting'); return new Promise(() => {}) })",
    )
    child.on('message', message => {
      if (message === 'waiting') child.disconnect()
    })
    expect(await once(child, 'exit')).to.deep.equal([1, null])
  })
})
