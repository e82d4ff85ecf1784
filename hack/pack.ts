import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { repository } from './controlplane/settings.ts'
import { findReachable } from './pack/reachable.ts'

// make pack: packs the command line as an npm package for `npx kapis login`. It contains only the
// compiled files that it uses and its bundled library, so it installs without a registry. Usage:
// node hack/pack.ts [FOLDER]

const entry = 'cmd/kapis/main.js'
const target = resolve(process.argv[2] ?? join(repository, 'dist'))
const scratch = mkdtempSync(join(tmpdir(), 'kapis-pack-'))
try {
  const built = join(scratch, 'built')
  run(join(repository, 'hack/build.sh'), [built])
  const folder = join(scratch, 'package')
  const { files, packages } = findReachable(built, entry)
  for (const file of files.filter(name => name !== 'package.json'))
    copy(join(built, file), join(folder, file))
  for (const name of ['manifests', 'LICENSE', 'docs/login.md'])
    copy(join(repository, name), join(folder, name === 'docs/login.md' ? 'README.md' : name))
  for (const name of packages)
    copy(join(repository, 'node_modules', name), join(folder, 'node_modules', name))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(description(packages), null, 2)}\n`)
  mkdirSync(target, { recursive: true })
  run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', target], folder)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function description(packages: readonly string[]) {
  const versions: Readonly<Record<string, string>> = packageJson.dependencies
  const client = '@kubernetes/client-node'
  return {
    name: packageJson.name,
    version: packageJson.version,
    description: 'The command line of Kapis: logins, kubectl credentials, users, tokens, manifests, doctor.',
    license: packageJson.license,
    type: packageJson.type,
    engines: packageJson.engines,
    bin: { kapis: entry },
    dependencies: Object.fromEntries(packages.map(name => [name, versions[name]])),
    bundleDependencies: packages,
    // The library is optional: only kubeconfigs with plugins need it, and it is much larger than
    // the rest of the package.
    peerDependencies: { [client]: versions[client] },
    peerDependenciesMeta: { [client]: { optional: true } },
  }
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to, { recursive: true })
}

function run(command: string, args: readonly string[], cwd = repository): void {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] })
  if (error !== undefined || status !== 0)
    throw new Error(`${command} ended with ${error?.message ?? status}`)
}
