import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { expect } from 'chai'
import { childEnvironment } from '../controlplane/settings.ts'
import { concatQueues, createQueue, runMocha } from './mocha-process.ts'

describe('a test process', () => {
  const name = 'unit-7'
  const printed: string[] = []
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'kapis-mocha-'))
  })
  after(() => rmSync(folder, { recursive: true }))

  function write(name: string, body: string): string {
    const file = join(folder, `${name}.test.mjs`)
    writeFileSync(file, body)
    return file
  }
  const { GREP: _, ...env } = childEnvironment()
  const run = (...jobs: readonly (readonly string[])[]) => {
    return runMocha(createQueue(jobs), { name, timeoutMs: 60_000, env, print: line => printed.push(line) })
  }

  it('reports how each test of each job ends', async () => {
    const some = write(
      'some',
      `describe('of them', () => {
        it('passes', () => process.send('a message of its own'))
        it('is skipped', function () { this.skip() })
        it('fails', () => { throw new Error('why\\nmore of it') })
      })`,
    )
    const one = write('one', "it('passes', () => {})")
    const other = write('other', "it('passes too', () => {})")
    expect(await run([some], [one, other])).to.deep.equal({
      passed: 3,
      failed: 1,
      skipped: 1,
      failures: ['of them fails: why'],
    })
    expect(printed.map(line => stripVTControlCharacters(line)).join('\n'))
      .to.match(new RegExp(`^${name} \\| +✔ passes`, 'm'))
      .and.to.include(`${name} | more of it`)
    expect(await run([one])).to.deep.equal({ passed: 1, failed: 0, skipped: 0, failures: [] })
  })

  it('is reported as crashed, with the file and the number of tests, and another process runs the rest', async () => {
    const body = "it('passes', () => {}); it('breaks', () => process.exit(7)); it('is left', () => {})"
    const breaks = write('breaks', body)
    const imports = write('imports', "import './nothing.mjs'")
    const passes = write('passes', "it('passes', () => {})")
    expect(await run([breaks], [imports], [passes])).to.deep.equal({
      passed: 2,
      failed: 2,
      skipped: 0,
      failures: [
        `${name}: the tests ended early (exit code 7) in "breaks" of ${breaks}`,
        `${name}: the tests ended early (exit code 1) before the first test of ${imports}`,
      ],
    })
  })

  it('continues after an unhandled rejection', async () => {
    const body = `it('leaves one behind', () => {
      setTimeout(() => Promise.reject(new Error('left behind')), 20)
      return new Promise(resolve => setTimeout(resolve, 100))
    })`
    const jobs = ['first', 'second', 'third'].map(name => [write(name, body)])
    expect(await run(...jobs)).to.deep.equal({ passed: 3, failed: 0, skipped: 0, failures: [] })
    const reported = printed.filter(line => line.includes('unhandled rejection: Error: left behind'))
    expect(reported).to.have.length(3)
  })

  it('exits when its parent has exited, even with pending work', async () => {
    const file = write(
      'waits',
      "it('waits', () => { process.send('waiting'); return new Promise(() => {}) })",
    )
    const child = fork(join(import.meta.dirname, 'mocha.ts'), ['60000'], { silent: true, env })
    child.send({ job: [file] })
    child.on('message', message => {
      if (message === 'waiting') child.disconnect()
      else if (typeof message === 'object' && message !== null && 'next' in message)
        child.send({ job: [file] })
    })
    expect(await once(child, 'exit')).to.deep.equal([1, null])
  })
})

describe('concatQueues', () => {
  it('takes jobs from the second queue when the first is empty', () => {
    const [first, second] = [createQueue([['a'], []]), createQueue([['b']])]
    const both = concatQueues(first, second)
    expect([both.take(), both.isEmpty(), both.take(), both.isEmpty(), both.take()]).to.deep.equal([
      ['a'],
      false,
      ['b'],
      true,
      undefined,
    ])
  })
})
