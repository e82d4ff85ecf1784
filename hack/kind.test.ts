import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { repository } from './controlplane/settings.ts'

// Only tests the arguments of kind, since most machines have no Docker; `make kind` in CI creates
// real clusters.
describe('make kind', () => {
  const { jobs } = parse(readFileSync(join(repository, '.github/workflows/ci.yaml'), 'utf8'))
  const images: readonly string[] = jobs.kind.strategy.matrix.node
  const imageOf = (version: string) => images.find(image => image.includes(`:${version}.`)) ?? 'none'
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kapis-kind-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  /**
   * Runs hack/kind.sh with a fake kind, and returns the arguments that would create the cluster.
   */
  function create(settings: Readonly<Record<string, string>>): readonly string[] {
    const calls = join(folder, 'calls')
    const programs = {
      docker: `[ "$2" != inspect ] || echo 'Status: running'`,
      kubectl: `echo '  name: v1alpha3.resources.kapis.io'`,
      kind: `[ "$1" = create ] || exit 0; printf '%s\\n' "$@" > ${calls}; exit 7`,
    }
    for (const [name, script] of Object.entries(programs))
      writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    const { PATH = '' } = process.env
    const env = { PATH: folder + delimiter + PATH, ...settings }
    const { status, stderr } = spawnSync(join(import.meta.dirname, 'kind.sh'), { env, encoding: 'utf8' })
    expect(status, stderr).to.equal(7)
    return readFileSync(calls, 'utf8').trimEnd().split('\n')
  }

  const cases: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
    ['the newest Kubernetes of CI', {}, images.at(-1) ?? 'none'],
    ['a version of CI', { KUBERNETES: 'v1.30' }, imageOf('v1.30')],
    ['a version without its leading v', { KUBERNETES: '1.31' }, imageOf('v1.31')],
    ['a patch version that CI tests', { KUBERNETES: imageOf('v1.36').slice(13, 20) }, imageOf('v1.36')],
    ['a patch version that CI does not test', { KUBERNETES: 'v1.36.1' }, 'kindest/node:v1.36.1'],
    [
      'no longer version number that begins with the requested one',
      { KUBERNETES: 'v1.3' },
      'kindest/node:v1.3',
    ],
    ['the given image, with any version', { KUBERNETES: 'v1.30', KIND_IMAGE: 'mirror/node' }, 'mirror/node'],
  ]
  for (const [title, settings, image] of cases)
    it(`selects ${title}`, () => {
      const cluster = ['create', 'cluster', '--name', 'kapis', '--wait', '120s']
      expect(create(settings)).to.deep.equal([...cluster, '--image', image])
    })
})
