import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { readRegularFile } from './read-regular-file.ts'

describe('readRegularFile', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'kapis-read-'))
  })
  after(() => rmSync(folder, { recursive: true }))

  it('reads a file, also through a symlink', () => {
    const [file, link] = [join(folder, 'file'), join(folder, 'link')]
    writeFileSync(file, 'text')
    symlinkSync(file, link)
    expect([file, link].map(path => String(readRegularFile(path)))).to.deep.equal(['text', 'text'])
  })

  it('rejects pipes and devices without blocking', () => {
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    for (const path of [pipe, '/dev/zero', '/dev/null'])
      expect(() => readRegularFile(path), path).to.throw(`${path} is not a regular file`)
  })

  it('reports a file that it cannot read', () => {
    expect(() => readRegularFile(join(folder, 'none'))).to.throw('ENOENT')
    expect(() => readRegularFile(folder)).to.throw('EISDIR')
  })
})
