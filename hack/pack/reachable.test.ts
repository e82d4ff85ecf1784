import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { findReachable } from './reachable.ts'

describe('findReachable', () => {
  it('follows every kind of import, and omits unreachable files', () => {
    const folder = mkdtempSync(join(tmpdir(), 'kapis-reachable-'))
    after(() => rmSync(folder, { recursive: true }))
    mkdirSync(join(folder, 'a/b'), { recursive: true })
    const files = {
      'a/main.js': `import x from "../x.json" with { type: "json" };\nimport './b/effect.js'\nexport { y } from './b/y.js'`,
      'a/b/effect.js': `import { parse } from 'yaml/util';\nimport fs from 'node:fs'`,
      'a/b/y.js': `const later = async () => (await import('./z.js')).z\nimport a from '@scope/name/part'`,
      'a/b/z.js': `import '../main.js'`,
      'a/b/unused.js': `import 'huge'`,
      'x.json': '{}',
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    expect(findReachable(folder, 'a/main.js')).to.deep.equal({
      files: ['a/b/effect.js', 'a/b/y.js', 'a/b/z.js', 'a/main.js', 'x.json'],
      packages: ['@scope/name', 'yaml'],
    })
  })
})
