import { expect } from 'chai'
import { buildManifests } from './build.ts'

// What is built: test/manifests/manifests.test.ts.
describe('buildManifests', () => {
  const before = process.env.TMPDIR
  afterEach(() => {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  })

  const cases = [
    ['/dev/null', 'ENOTDIR'],
    ['/nowhere', 'ENOENT'],
    ['/proc', 'ENOENT'],
  ]
  for (const [folder = '', code] of cases)
    it(`says what it needs where ${folder} takes no files`, async () => {
      process.env.TMPDIR = folder
      const built = await buildManifests({ overlay: 'default' }, 'kubectl').catch(String)
      expect(built).to.equal(
        `Error: ${folder} takes no files (${code}), and kustomize needs some for a moment: mount a folder to write to there, such as a tmpfs or an emptyDir, or name another one by TMPDIR`,
      )
    })
})
