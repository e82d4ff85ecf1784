import { expect } from 'chai'
import { checkFile, findImports } from './check.ts'

describe('checkFile', () => {
  const messages = (path: string, text: string) =>
    checkFile({ path, text }).map(({ file, line, message }) => `${file}:${line}: ${message}`)

  const allowed: [file: string, text: string][] = [
    ['pkg/authn/a.ts', "import { x } from '../token/x.ts'"],
    ['pkg/iam/a.ts', "import { x } from './b.ts'"],
    ['pkg/iam/a.ts', "import { readFile } from 'node:fs/promises'"],
    ['pkg/iam/a.ts', "import { hash } from '@node-rs/bcrypt'"],
    ['pkg/authn/a.ts', "import { x } from '../iam/user.ts'"],
    ['pkg/aggregated/a.ts', "import { x } from '../resources/list.ts'"],
    ['pkg/kapis/iam/v1alpha2/a.ts', "import { x } from '../../render.ts'"],
    ['pkg/apiserver/a.ts', "import { x } from '../proxy/x.ts'"],
    ['cmd/oauth/main.ts', "import { x } from '../../pkg/oauth/run.ts'"],
    ['pkg/token/a.ts', "import x from 'jose/jwt/verify'"],
    ['cmd/apiserver/main.ts', "import json from '../../package.json' with { type: 'json' }"],
    ['pkg/status/a.test.ts', "import { x } from '../iam/user.ts'"],
    ['pkg/status/a.test.ts', "import { expect } from 'chai'"],
    ['pkg/token/a.test.ts', "import { x } from '../../hack/x.ts'"],
    ['pkg/iam/a.ts', "// import { x } from '../oauth/x.ts'\n/* import y from 'left-pad' */"],
  ]
  for (const [path, text] of allowed) {
    it(`allows in ${path}: ${text}`, () => {
      expect(messages(path, text)).to.deep.equal([])
    })
  }

  const refused: [file: string, text: string, message: string][] = [
    ['pkg/status/a.ts', "import { x } from '../kube/x.ts'", 'must not import upward from pkg/kube'],
    ['pkg/iam/a.ts', "import type { X } from '../oauth/x.ts'", 'must not import upward from pkg/oauth'],
    ['pkg/iam/a.ts', "export { x } from '../apiserver/x.ts'", 'must not import upward from pkg/apiserver'],
    ['pkg/iam/a.ts', "const x = await import('../oauth/x.ts')", 'must not import upward from pkg/oauth'],
    ['pkg/oauth/a.ts', "import { x } from '../aggregated/x.ts'", 'faces do not know each other'],
    [
      'pkg/kapis/iam/v1alpha2/a.ts',
      "import { x } from '../../logging/v1/x.ts'",
      'faces do not know each other',
    ],
    ['pkg/authn/a.ts', "import { jwtVerify } from 'jose'", 'jose is imported by pkg/token alone'],
    ['pkg/iam/a.ts', "import express from 'express'", 'express is imported by'],
    ['pkg/iam/a.ts', "import x from 'left-pad'", 'left-pad is owned by no room'],
    ['pkg/iam/a.ts', "import { x } from '../../hack/x.ts'", 'lies outside of the rooms'],
    ['pkg/iam/a.ts', "import { x } from './fixtures.ts'", 'is for tests alone'],
    ['pkg/iam/index.ts', '', 'no barrel files'],
    ['pkg/iam/utils/x.ts', '', 'no folder named utils'],
    ['pkg/iam/a.ts', '\n'.repeat(402), '402 lines'],
  ]
  for (const [path, text, message] of refused) {
    it(`refuses in ${path}: ${text.trim() || message}`, () => {
      const found = messages(path, text)
      expect(found).to.have.length(1)
      expect(found[0]).to.include(message)
    })
  }
})

describe('findImports', () => {
  it('finds statements over several lines and tells the line of the file they name', () => {
    const text = "import {\n  a,\n  b,\n} from './x.ts'\nimport './y.ts'\n\nexport * from './z.ts'\n"
    expect(findImports(text)).to.deep.equal([
      { specifier: './x.ts', line: 4 },
      { specifier: './y.ts', line: 5 },
      { specifier: './z.ts', line: 7 },
    ])
  })

  it('takes text for text', () => {
    expect(findImports("const said = `import from 'x'`\nconst x = 'export'\n")).to.deep.equal([])
  })
})
