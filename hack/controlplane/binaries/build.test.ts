import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { sources } from './build.ts'

describe('the programs of the control plane', () => {
  for (const [name, { folder }] of Object.entries(sources))
    it(`are built in a Go module: ${name}`, () => {
      expect(existsSync(join(import.meta.dirname, '..', folder, 'go.mod'))).to.equal(true)
    })
})
