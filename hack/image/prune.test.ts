import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'

describe('prune', function () {
  this.timeout(20_000)
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kapis-prune-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  function prune(files: Readonly<Record<string, string>>) {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(folder, dirname(name)), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
    const script = join(import.meta.dirname, 'prune.ts')
    const args = ['--no-warnings', '--experimental-import-meta-resolve', script, folder]
    return spawnSync(process.execPath, args, { encoding: 'utf8' })
  }
  const left = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1))
      .sort()
  const own = {
    'package.json': '{"type":"module"}',
    'cmd/main.js': `import { a } from 'both'\nimport '../pkg/later.js'`,
    'pkg/later.js': `const c = await import('@scope/deep/part')\nconst require = createRequire(import.meta.url)\nrequire('plain')`,
  }

  it('leaves what can be loaded, as Node.js finds it, and the licences of that', () => {
    const { status, stderr } = prune({
      ...own,
      'node_modules/both/package.json':
        '{ "name": "both", "exports": { "import": "./esm.mjs", "require": "./cjs.cjs" }, "scripts": { "x": "y" } }',
      'node_modules/both/esm.mjs': `export * from './inner.mjs'\nexport { b } from "nested"`,
      'node_modules/both/inner.mjs': '',
      'node_modules/both/cjs.cjs': '',
      'node_modules/both/LICENSE.md': '',
      'node_modules/both/README.md': '',
      'node_modules/both/node_modules/nested/package.json': '{"type":"module","main":"index.js"}',
      'node_modules/both/node_modules/nested/index.js': `import fs from 'fs'`,
      'node_modules/nested/package.json': '{}',
      'node_modules/nested/index.js': '',
      'node_modules/nested/LICENSE': '',
      'node_modules/@scope/deep/package.json': '{"exports":{"./*":"./lib/*.js"}}',
      'node_modules/@scope/deep/lib/part.js': `try { require('optional') } catch {}\nrequire('./data.json')`,
      'node_modules/@scope/deep/lib/data.json': '{ "a": [1, 2] }',
      'node_modules/@scope/deep/lib/other.js': '',
      'node_modules/plain/package.json': '{"main":"./lib"}',
      'node_modules/plain/lib/index.js': `require('./a'); require("./native.node")`,
      'node_modules/plain/lib/a.js': `require('..')`,
      'node_modules/plain/lib/native.node': '',
      'node_modules/plain/.github/x.yml': '',
      'node_modules/.bin/plain': '',
    })
    expect([status, stderr]).to.deep.equal([0, ''])
    expect(left()).to.deep.equal([
      'cmd/main.js',
      'node_modules/@scope/deep/lib/data.json',
      'node_modules/@scope/deep/lib/part.js',
      'node_modules/@scope/deep/package.json',
      'node_modules/both/LICENSE.md',
      'node_modules/both/esm.mjs',
      'node_modules/both/inner.mjs',
      'node_modules/both/node_modules/nested/index.js',
      'node_modules/both/node_modules/nested/package.json',
      'node_modules/both/package.json',
      'node_modules/plain/lib/a.js',
      'node_modules/plain/lib/index.js',
      'node_modules/plain/lib/native.node',
      'node_modules/plain/package.json',
      'package.json',
      'pkg/later.js',
    ])
    const read = (name: string) => readFileSync(join(folder, 'node_modules', name), 'utf8')
    expect(read('@scope/deep/lib/data.json')).to.equal('{"a":[1,2]}')
    expect(JSON.parse(read('both/package.json'))).to.deep.equal({
      name: 'both',
      exports: { import: './esm.mjs', require: './cjs.cjs' },
    })
  })

  it('names what the programs need and is not there, and takes nothing away', () => {
    const { status, stderr } = prune({ ...own, 'node_modules/both/index.js': '' })
    expect(status).to.equal(1)
    expect(stderr).to.match(/there is no (plain|@scope\/deep\/part)\n/)
    expect(left()).to.include('node_modules/both/index.js')
  })
})
