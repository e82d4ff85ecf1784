import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { assertWritable, replaceFile } from './replace-file.ts'

describe('replaceFile', () => {
  let folder: string
  let file: string
  const content = () => readFileSync(file, 'utf8')
  const replace = (text: string) => replaceFile(file, Buffer.from(text))
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kapis-replace-'))
    file = join(folder, 'config')
    writeFileSync(file, 'the old content, which is longer', { mode: 0o640 })
  })
  afterEach(() => {
    chmodSync(folder, 0o700)
    rmSync(folder, { recursive: true })
  })

  it('preserves mode, owner and group, and leaves no temporary file', () => {
    chmodSync(file, 0o664)
    const isRoot = process.getuid?.() === 0
    if (isRoot) chownSync(file, 1234, 2345)
    const { uid, gid } = statSync(file)
    replace('new')
    const now = statSync(file)
    expect([content(), now.mode & 0o7777, now.uid, now.gid]).to.deep.equal(['new', 0o664, uid, gid])
    expect(readdirSync(folder)).to.deep.equal(['config'])
  })

  it('is atomic: a reader that has opened the file still reads the old content', () => {
    const { ino } = statSync(file)
    replace('new')
    expect(statSync(file).ino).to.not.equal(ino)
  })

  it('preserves hard links: both names have the new content', () => {
    const other = join(folder, 'other')
    linkSync(file, other)
    replace('new')
    expect([content(), readFileSync(other, 'utf8'), statSync(file).nlink]).to.deep.equal(['new', 'new', 2])
  })

  it('writes through symbolic links, also to a missing file', () => {
    mkdirSync(join(folder, 'real'))
    for (const isThere of [true, false]) {
      const target = join(folder, 'real', `config-${isThere}`)
      if (isThere) writeFileSync(target, 'old')
      const link = join(folder, `link-${isThere}`)
      const linkToLink = join(folder, `link2-${isThere}`)
      symlinkSync(`real/config-${isThere}`, link)
      symlinkSync(link, linkToLink)
      replaceFile(linkToLink, Buffer.from('new'))
      expect([readlinkSync(linkToLink), lstatSync(link).isSymbolicLink()]).to.deep.equal([link, true])
      expect(readFileSync(target, 'utf8')).to.equal('new')
    }
  })

  it('creates a file that only its owner can read', () => {
    rmSync(file)
    replace('new')
    expect([content(), statSync(file).mode & 0o7777]).to.deep.equal(['new', 0o600])
  })

  it('accepts regular files only', () => {
    const refused = `${folder} is not a regular file`
    expect(() => replaceFile(folder, Buffer.from('x'))).to.throw(refused)
    expect(() => assertWritable(folder)).to.throw(refused)
  })

  it('detects a link into a missing folder', () => {
    const link = join(folder, 'link')
    symlinkSync('missing/config', link)
    symlinkSync('link', join(folder, 'link2'))
    const why = `ENOENT: no such file or directory, access '${join(folder, 'missing')}'`
    expect(() => assertWritable(join(folder, 'link2'))).to.throw(why)
    mkdirSync(join(folder, 'missing'))
    assertWritable(join(folder, 'link2'))
    expect(readdirSync(join(folder, 'missing'))).to.deep.equal([])
  })

  it('rejects a loop of links', () => {
    symlinkSync('b', join(folder, 'a'))
    symlinkSync('a', join(folder, 'b'))
    expect(() => assertWritable(join(folder, 'a'))).to.throw('ELOOP')
    expect(() => replaceFile(join(folder, 'a'), Buffer.from('x'))).to.throw('ELOOP')
  })

  it('does not change a file in a dry run', () => {
    assertWritable(file)
    assertWritable(join(folder, 'none'))
    expect([content(), readdirSync(folder)]).to.deep.equal(['the old content, which is longer', ['config']])
  })
})
