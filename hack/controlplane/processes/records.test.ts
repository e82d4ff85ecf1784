import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createProcessRecords } from './records.ts'

describe('createProcessRecords', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kapis-records-'))
  const records = createProcessRecords(folder)
  after(() => rmSync(folder, { recursive: true }))

  it('is empty in an empty folder', () => {
    expect(records.pids().size).to.equal(0)
    expect(records.parts()).to.deep.equal([])
    expect(records.readEnv()).to.equal(undefined)
  })

  it('contains processes until they are removed', () => {
    records.setPid('etcd', { pid: 1, stamp: 'a' })
    records.setPid('apiserver', { pid: 4, stamp: 'b' })
    records.setPid('kwok', { pid: 3, stamp: 'c' })
    records.setPid('etcd', { pid: 2, stamp: 'd' })
    expect(createProcessRecords(folder).pids().get('etcd')).to.deep.equal({ pid: 2, stamp: 'd' })
    expect(records.pidList()).to.equal('etcd=2 kwok=3 apiserver=4')
    records.forgetPid('kwok')
    expect(records.pidList()).to.equal('etcd=2 apiserver=4')
  })

  it('writes an env file that a shell can source and only its owner can read', () => {
    const odd = `it's $HOME "x" \\ %`
    records.writeEnv({ KAPIS_PASSWORD: odd, KAPIS_PIDS: 'etcd=9' }, "/some where/o'clock")
    const file = join(folder, 'env')
    const print = `. '${file}'; printf '%s\\n' "$KAPIS_PASSWORD" "\${PATH%%:*}" "$KAPIS_PIDS"`
    const lines = () => execFileSync('sh', ['-c', print], { encoding: 'utf8' }).trimEnd().split('\n')
    expect(lines()).to.deep.equal([odd, "/some where/o'clock", 'etcd=9'])
    expect(records.readEnv()?.KAPIS_PASSWORD).to.equal(odd)
    expect(statSync(file).mode & 0o777).to.equal(0o600)
    records.updateEnvPids()
    expect(lines()[2]).to.equal('etcd=2 apiserver=4')
  })
})
