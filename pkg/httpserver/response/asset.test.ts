import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { readAsset } from './asset.ts'

describe('readAsset', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kapis-asset-'))
  after(() => rmSync(folder, { recursive: true }))

  function read(name: string, text: string) {
    const file = join(folder, name)
    writeFileSync(file, text)
    return readAsset(pathToFileURL(file), `/x/${name}`)
  }

  it('reads a script as it is, to be kept for a year under its version', () => {
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

  it('begins a style with the theme of all pages', () => {
    const { document, headers } = read('a.css', 'p { margin: 0; }\n')
    const theme = readFileSync(new URL('./theme.css', import.meta.url), 'utf8')
    expect(document.body.toString()).to.equal(`${theme}p { margin: 0; }\n`)
    expect(headers['content-type']).to.equal('text/css; charset=utf-8')
  })

  it('has another address when the bytes are others', () => {
    expect(read('b.css', 'p {}').href).to.not.equal(read('b.css', 'q {}').href)
  })
})
