import { execFileSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { loadKubeconfig } from './files.ts'

describe('loadKubeconfig', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kapis-kubeconfig-'))

  it('reads the existing files, and writes to the first of them', () => {
    const file = join(folder, 'config')
    writeFileSync(file, 'apiVersion: v1\nkind: Config\n')
    const { files, defaultFile } = loadKubeconfig([join(folder, 'none'), '/dev/null', file])
    expect(files.map(({ path }) => path)).to.deep.equal(['/dev/null', file])
    expect(defaultFile).to.equal('/dev/null')
  })

  it('rejects pipes and devices without blocking', () => {
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    for (const path of [pipe, '/dev/zero'])
      expect(() => loadKubeconfig([path])).to.throw(
        `failed to read the kubeconfig: ${path} is not a regular file`,
      )
  })

  it('names a folder, and a file that kubectl cannot load, in its error', () => {
    expect(() => loadKubeconfig([folder])).to.throw('failed to read the kubeconfig: EISDIR')
    const file = join(folder, 'broken')
    writeFileSync(file, '{')
    expect(() => loadKubeconfig([file])).to.throw(`invalid kubeconfig ${file}: `)
  })
})
