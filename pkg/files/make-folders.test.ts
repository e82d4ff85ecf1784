import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { makeFolders } from './make-folders.ts'

describe('makeFolders', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kapis-folders-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('creates a folder and its parents, and keeps existing ones', () => {
    const deep = join(folder, 'a/b/c')
    makeFolders(deep, 0o700)
    makeFolders(deep, 0o755)
    expect(statSync(deep).mode & 0o777).to.equal(0o700)
  })

  it('names the folder that it cannot create, without retrying forever', () => {
    const file = join(folder, 'file')
    writeFileSync(file, '')
    const dangling = join(folder, 'dangling')
    symlinkSync(join(folder, 'nowhere/at/all'), dangling)
    const cases: [string, string][] = [
      [join(file, 'x/y'), `failed to make the folder ${file}: EEXIST`],
      [join(dangling, 'x'), `failed to make the folder ${dangling}: EEXIST`],
    ]
    // mkdir below /proc fails with ENOENT although /proc exists.
    if (existsSync('/proc/self')) cases.push(['/proc/none/x', 'failed to make the folder /proc/none: ENOENT'])
    for (const [path, message] of cases) expect(() => makeFolders(path)).to.throw(message)
  })
})
