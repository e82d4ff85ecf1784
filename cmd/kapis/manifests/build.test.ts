import { expect } from 'chai'
import { buildManifests } from './build.ts'

// test/manifests/manifests.test.ts checks the content of the result.
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
    it(`reports that ${folder} is not writable`, async () => {
      process.env.TMPDIR = folder
      const built = await buildManifests({ overlay: 'default' }, 'kubectl').catch(String)
      expect(built).to.equal(
        `Error: ${folder} is not writable (${code}), but kustomize needs temporary files: mount a tmpfs or an emptyDir there, or set TMPDIR to a writable folder`,
      )
    })
})
