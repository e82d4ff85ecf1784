import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect } from 'chai'

// Only tests the arguments of buildx, since most machines have no Docker; `make kind` in CI runs
// real builds.
describe('make image', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kapis-image-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  /** Runs hack/image.sh with a fake docker, which reports a builder and records other commands. */
  function make(settings: Readonly<Record<string, string>>, builder = 'Status: running') {
    const calls = join(folder, 'calls')
    const docker = `#!/bin/sh\ncase "$2" in inspect) echo '${builder}' ;; *) printf '%s\\n' "$@" >> ${calls} ;; esac\n`
    writeFileSync(join(folder, 'docker'), docker, { mode: 0o755 })
    const { PATH = '' } = process.env
    const env = { PATH: folder + delimiter + PATH, ...settings }
    const { status, stdout, stderr } = spawnSync(join(import.meta.dirname, 'image.sh'), {
      env,
      encoding: 'utf8',
    })
    return { status, stdout, stderr, asked: () => readFileSync(calls, 'utf8').trimEnd().split('\n') }
  }

  const to = (output: string) => ['--output', `${output},rewrite-timestamp=true`]
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, readonly string[]])[] = [
    // Attestations would change the image digest in each build.
    ['for the engine, without attestations', {}, ['--provenance=false', '--load']],
    [
      'for a registry, with both attestations',
      { PUSH: '1', PLATFORMS: 'linux/amd64,linux/arm64' },
      [
        ...['--platform', 'linux/amd64,linux/arm64'],
        ...['--no-cache', '--sbom=true', '--provenance=true', ...to('type=image,push=true')],
      ],
    ],
    [
      'into an archive',
      { TO: 'kapis.tar' },
      ['--no-cache', '--provenance=false', ...to('type=oci,dest=kapis.tar')],
    ],
    [
      'on other base images',
      { NODE_IMAGE: 'mirror/node' },
      ['--build-arg', 'NODE_IMAGE=mirror/node', '--provenance=false', '--load'],
    ],
  ]
  for (const [title, settings, expected] of cases)
    it(`builds ${title}`, () => {
      const { status, stdout, asked } = make({ ...settings, IMAGE: 'kapis:test' })
      expect(status).to.equal(0)
      expect(stdout).to.equal('built kapis:test\n')
      const words = asked()
      expect(words.slice(0, 2)).to.deep.equal(['buildx', 'build'])
      expect(words.slice(words.indexOf('kapis:test') + 1)).to.deep.equal([...expected, '.'])
    })

  it('reports that no builder responds', () => {
    const { status, stderr } = make({}, 'Error: no engine')
    expect(status).to.equal(1)
    expect(stderr).to.equal(
      'make image needs Docker with buildx, but no builder is responding:\nError: no engine\n',
    )
  })
})
