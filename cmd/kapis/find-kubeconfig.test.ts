import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect } from 'chai'
import { findKubeconfig } from './find-kubeconfig.ts'

describe('findKubeconfig', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'kapis-find-'))
    writeFileSync(join(folder, 'empty'), 'apiVersion: v1\nkind: Config\n')
    writeFileSync(join(folder, 'none'), 'current-context: ""\n')
    writeFileSync(join(folder, 'a'), 'current-context: a\n')
    writeFileSync(join(folder, 'b'), 'current-context: b\n')
    writeFileSync(join(folder, 'broken'), 'users: 1\n')
  })
  after(() => rmSync(folder, { recursive: true }))

  const find = (...names: readonly string[]) => {
    const KUBECONFIG = names.map(name => name && join(folder, name)).join(delimiter)
    return findKubeconfig({ env: { KUBECONFIG } }).replace(`${folder}/`, '')
  }

  it('returns the first file of KUBECONFIG with a current context', () => {
    expect(find('empty', '', 'missing', 'none', 'a', 'b')).to.equal('a')
    expect(find('b', 'a')).to.equal('b')
    expect(find('missing', 'empty', 'none')).to.equal('empty')
    expect(find('missing')).to.equal('')
  })

  it('names a file that kubectl cannot load', () => {
    const why = `invalid kubeconfig ${join(folder, 'broken')}: users is not a list`
    expect(() => find('a', 'broken')).to.throw(why)
  })
})
