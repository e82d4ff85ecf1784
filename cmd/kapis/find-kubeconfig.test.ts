import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { devNull, tmpdir } from 'node:os'
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
    return findKubeconfig({ env: { KUBECONFIG } }).map(path => path.replace(`${folder}/`, ''))
  }

  it('returns the existing files of KUBECONFIG in order, which are merged', () => {
    expect(find('empty', '', 'missing', 'none', 'a', 'b')).to.deep.equal(['empty', 'none', 'a', 'b'])
    expect(find('b', 'a', 'b')).to.deep.equal(['b', 'a'])
    expect(find('missing')).to.deep.equal([])
    expect(findKubeconfig({ env: { KUBECONFIG: devNull } })).to.deep.equal([])
  })

  it('returns only the file of --kubeconfig, which must exist', () => {
    const env = { KUBECONFIG: join(folder, 'broken') }
    expect(findKubeconfig({ env }, join(folder, 'a'))).to.deep.equal([join(folder, 'a')])
    const missing = join(folder, 'missing')
    expect(() => findKubeconfig({ env }, missing)).to.throw(`the kubeconfig ${missing} does not exist`)
  })

  it('names a file that kubectl cannot load', () => {
    const why = `invalid kubeconfig ${join(folder, 'broken')}: users is not a list`
    expect(() => find('a', 'broken')).to.throw(why)
  })
})
