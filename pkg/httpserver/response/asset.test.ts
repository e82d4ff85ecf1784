import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { readAsset, readAssetFolder } from './asset.ts'

describe('readAsset', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kapis-asset-'))
  after(() => rmSync(folder, { recursive: true }))

  function read(name: string, text: string) {
    const file = join(folder, name)
    writeFileSync(file, text)
    return readAsset(pathToFileURL(file), `/x/${name}`)
  }

  it('returns a script unchanged, to be cached for a year under its versioned URL', () => {
    const { path, href, document, headers } = read('a.js', 'let a\n')
    expect([path, document.body.toString()]).to.deep.equal(['/x/a.js', 'let a\n'])
    expect(href).to.equal(`/x/a.js?v=${document.hash.slice(0, 12)}`)
    expect(headers).to.deep.equal({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    })
  })

  it('prepends the common theme to a style sheet', () => {
    const { document, headers } = read('a.css', 'p { margin: 0; }\n')
    const theme = readFileSync(new URL('./theme.css', import.meta.url), 'utf8')
    expect(document.body.toString()).to.equal(`${theme}p { margin: 0; }\n`)
    expect(headers['content-type']).to.equal('text/css; charset=utf-8')
  })

  it('has another URL when the content changes', () => {
    expect(read('b.css', 'p {}').href).to.not.equal(read('b.css', 'q {}').href)
  })
})

describe('readAssetFolder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kapis-asset-'))
  after(() => rmSync(folder, { recursive: true }))

  function read(files: Readonly<Record<string, string>>) {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    return readAssetFolder(
      Object.keys(files).map(name => pathToFileURL(join(folder, name))),
      '/x',
    )
  }

  it('serves all files below one path, so that modules can import each other', () => {
    const { path, find } = read({ 'a.js': "import './b.mjs'\n", 'b.mjs': 'let b\n' })
    expect(path).to.match(/^\/x\/[0-9a-f]{12}$/)
    expect(find(`${path}/b.mjs`)?.document.body.toString()).to.equal('let b\n')
    expect(find(`${path}/b.mjs`)?.headers['content-type']).to.equal('text/javascript; charset=utf-8')
    for (const none of ['/x/b.mjs', `${path}/c.mjs`, `${path}/`, path])
      expect(find(none), none).to.equal(undefined)
  })

  it('has another path when any file changes', () => {
    const first = read({ 'a.js': 'a', 'b.js': 'b' }).path
    expect(read({ 'a.js': 'a', 'b.js': 'c' }).path).to.not.equal(first)
    expect(read({ 'a.js': 'a', 'b.js': 'b' }).path).to.equal(first)
  })
})
