import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { repository } from '../controlplane/settings.ts'
import { strip } from './elf.ts'

// The Node.js that runs this is one that the image could have; other systems have other files.
describe('strip', function () {
  this.timeout(60_000)
  if (process.platform !== 'linux') return
  const whole = readFileSync(process.execPath)
  let stripped: Buffer
  let folder: string
  let node: string
  before(() => {
    stripped = strip(whole)
    folder = mkdtempSync(join(tmpdir(), 'kapis-strip-'))
    node = join(folder, 'node')
    writeFileSync(node, stripped)
    chmodSync(node, 0o755)
  })
  after(() => rmSync(folder, { recursive: true }))

  it('leaves every byte that is loaded, where it was', () => {
    // The names of sections are at the end of both; elsewhere Node.js knows of such names for reasons of its own.
    const names = stripped.subarray(-8_192)
    expect([names.includes('\0.symtab\0'), names.includes('\0.dynsym\0')]).to.deep.equal([false, true])
    const table = Number(whole.readBigUInt64LE(32))
    const segments = Array.from({ length: whole.readUInt16LE(56) }, (_, i) => table + i * 56)
    for (const at of segments) {
      const from = Number(whole.readBigUInt64LE(at + 8))
      const end = from + Number(whole.readBigUInt64LE(at + 32))
      // Before them is the file's header, which says where the sections are.
      const begin = Math.max(from, 64)
      expect(stripped.subarray(begin, end).equals(whole.subarray(begin, end))).to.equal(true)
    }
  })

  it('changes nothing that is stripped already, and is the same each time', () => {
    expect(strip(stripped).equals(stripped)).to.equal(true)
    expect(strip(whole).equals(stripped)).to.equal(true)
  })

  const programs: readonly (readonly [string, string, string])[] = [
    [
      'native modules',
      `require('@node-rs/bcrypt').verifySync('kapis', require('@node-rs/bcrypt').hashSync('kapis', 4))`,
      'true',
    ],
    [
      'threads',
      `new Promise(done => new (require('worker_threads').Worker)('require("worker_threads").parentPort.postMessage(7)', { eval: true }).on('message', done))`,
      '7',
    ],
    [
      'time zones and alphabets',
      `new Date(0).toLocaleString('de', { timeZone: 'Asia/Tokyo' })`,
      '1.1.1970, 09:00:00',
    ],
    [
      'TLS',
      `require('tls').rootCertificates.length > 100 && require('crypto').generateKeyPairSync('ed25519').publicKey.type`,
      'public',
    ],
    [
      'CPU profiles',
      `(async () => {
        const session = new (require('inspector/promises').Session)()
        session.connect()
        await session.post('Profiler.enable')
        await session.post('Profiler.start')
        return (await session.post('Profiler.stop')).profile.nodes[0].callFrame.functionName
      })()`,
      '(root)',
    ],
    [
      'heap snapshots',
      `(async () => {
        let text = ''
        for await (const chunk of require('v8').getHeapSnapshot()) text += chunk
        return JSON.parse(text).nodes.length > 1000
      })()`,
      'true',
    ],
  ]
  for (const [what, script, printed] of programs)
    it(`makes a Node.js that has ${what}`, () => {
      const program = `Promise.resolve(${script}).then(found => process.stdout.write(String(found)))`
      const { stdout, stderr } = spawnSync(node, ['-e', program], { cwd: repository, encoding: 'utf8' })
      expect(stdout, stderr).to.equal(printed)
    })

  const invalid: readonly (readonly [string, Buffer])[] = [
    ['a script', Buffer.from('#!/bin/sh\n'.repeat(20))],
    ['a 32-bit file', Buffer.from('\x7fELF\x01\x01'.padEnd(128, '\0'), 'latin1')],
    ['a big-endian file', Buffer.from('\x7fELF\x02\x02'.padEnd(128, '\0'), 'latin1')],
  ]
  for (const [what, file] of invalid)
    it(`refuses ${what}`, () => {
      expect(() => strip(file)).to.throw('this is no 64-bit little-endian ELF file')
    })
})
