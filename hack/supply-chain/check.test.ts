import { expect } from 'chai'
import { undocumented, unpinned, versionFaults } from './check.ts'
import { renderLicences } from './licences.ts'
import { isPermissive, lockfileFaults, readLockfile } from './lockfile.ts'

const integrity = `sha512-${'A'.repeat(86)}==`
const lock = (packages: object) =>
  readLockfile({
    path: 'lock',
    text: JSON.stringify({ lockfileVersion: 3, packages: { '': {}, ...packages } }),
  })

describe('the check of the supply chain', () => {
  it('reports packages without a hash, from another registry, or with a forbidden licence', () => {
    const packages = lock({
      'node_modules/good': { version: '1.0.0', license: 'MIT', integrity },
      'node_modules/short': { version: '1.0.0', license: 'MIT', integrity: 'sha1-AAAA' },
      'node_modules/a/node_modules/@b/git': {
        ...{ version: '1.0.0', license: '(GPL-3.0 OR AGPL-3.0)', integrity, resolved: 'git+ssh://host/x' },
      },
    })
    expect(lockfileFaults('lock', packages)).to.deep.equal([
      'lock: node_modules/short has no sha512 integrity',
      'lock: node_modules/a/node_modules/@b/git: licence "(GPL-3.0 OR AGPL-3.0)" is not allowed',
      'lock: node_modules/a/node_modules/@b/git comes from git+ssh://host/x',
    ])
    expect(packages.map(({ name }) => name)).to.deep.equal(['good', 'short', '@b/git'])
  })

  it('reports missing lock entries of packages for other platforms', () => {
    const optionalDependencies = { '@a/linux': '1.0.0', '@a/darwin': '1.0.0' }
    const packages = lock({
      'node_modules/a': { version: '1.0.0', license: 'MIT', integrity, optionalDependencies },
      'node_modules/@a/linux': { version: '1.0.0', license: 'MIT', integrity },
    })
    expect(lockfileFaults('lock', packages)).to.deep.equal([
      'lock: the optional dependency @a/darwin of node_modules/a is not locked',
    ])
  })

  it('reports a lock file of another version', () => {
    expect(() => readLockfile({ path: 'lock', text: '{"lockfileVersion":1}' })).to.throw(
      'lock is not a lock file of',
    )
  })

  for (const [license, expected] of [
    ['MIT', true],
    ['(BSD-3-Clause OR GPL-2.0)', true],
    ['GPL-2.0', false],
    ['MIT AND GPL-2.0', false],
    ['Apache-2.0 AND MIT', true],
    ['', false],
  ] as const) {
    it(`treats ${license || 'no licence'} as ${expected ? 'permissive' : 'forbidden'}`, () =>
      expect(isPermissive(license)).to.equal(expected))
  }

  it('reports version ranges', () => {
    const dependencies = { a: '1.2.3', b: '^1.2.3', c: 'latest', d: 'github:x/y' }
    expect(versionFaults({ dependencies })).to.deep.equal([
      'package.json: b is ^1.2.3, which is not an exact version',
      'package.json: c is latest, which is not an exact version',
      'package.json: d is github:x/y, which is not an exact version',
    ])
  })

  it('reports dependencies that no ADR justifies', () => {
    const manifest = {
      dependencies: { a: '1.0.0', '@x/b': '1.0.0' },
      devDependencies: { c: '1.0.0', '@types/d': '1.0.0' },
    }
    expect(undocumented(manifest, '| library | room |\n| a, b | pkg | why |')).to.deep.equal([
      'docs/adr/0001-dependencies.md does not justify c',
    ])
  })

  it('reports actions and node images that are pinned by tag', () => {
    const hash = '0123456789'.repeat(4)
    const digest = `sha256:${'0'.repeat(64)}`
    const lines = [
      ...[`- uses: a/b@${hash} # v1`, '  uses: c/d@v4', '- uses: ./here', '- uses: docker://alpine:3'],
      ...[`- uses: docker://alpine@${digest}`, '- run: uses', `- kindest/node:v1.36.4@${digest}`],
      ...['- kindest/node:v1.36.4', 'image: "kindest/node:$VERSION"', '- run: kind'],
    ]
    expect(unpinned('ci.yaml', lines.join('\n'))).to.deep.equal([
      'ci.yaml:2: c/d@v4 is not pinned by a commit or digest',
      'ci.yaml:4: docker://alpine:3 is not pinned by a commit or digest',
      'ci.yaml:8: kindest/node:v1.36.4 is not pinned by a commit or digest',
      'ci.yaml:9: kindest/node:$VERSION is not pinned by a commit or digest',
    ])
  })

  it('reports install scripts', () => {
    const script = { version: '1.0.0', license: 'MIT', integrity, hasInstallScript: true }
    const packages = lock({ 'node_modules/a': script, 'node_modules/@swc/core': script })
    expect(lockfileFaults('lock', packages)).to.deep.equal(['lock: node_modules/a has an install script'])
  })

  it('requires a notice for each shipped package', () => {
    const text = renderLicences(
      lock({
        'node_modules/b': { version: '2.0.0', license: 'ISC', integrity },
        'node_modules/a': { version: '1.0.0', license: 'MIT', integrity },
        'node_modules/t': { version: '1.0.0', license: 'MIT', integrity, dev: true },
      }),
    )
    expect(text).to.include('| a | 1.0.0 | MIT |\n| b | 2.0.0 | ISC |\n')
    expect(text).to.include('1 further packages: 1 under MIT.')
  })
})
