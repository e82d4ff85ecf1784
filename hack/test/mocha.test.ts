import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'

describe('a process of tests', () => {
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'kapis-mocha-'))
  })
  after(() => rmSync(folder, { recursive: true }))

  function start(name: string, body: string) {
    const file = join(folder, `${name}.test.mjs`)
    writeFileSync(file, `it('${name}', ${body})\n`)
    return fork(join(import.meta.dirname, 'mocha.ts'), ['60000', file], { silent: true })
  }

  it('tells its parent the figures', async () => {
    const child = start('passes', '() => {}')
    expect((await once(child, 'message'))[0]).to.deep.equal({ passed: 1, failed: 0, skipped: 0 })
    expect(await once(child, 'exit')).to.deep.equal([0, null])
  })

  it('ends when its parent has gone, whatever it waits for', async () => {
    const child = start('waits', '() => { process.send("waiting"); return new Promise(() => {}) }')
    await once(child, 'message')
    child.disconnect()
    expect(await once(child, 'exit')).to.deep.equal([1, null])
  })
})
