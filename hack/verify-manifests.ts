import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { baseNames, customize, platformNames } from '../cmd/kapis/manifests/customize.ts'
import { repository } from './controlplane/settings.ts'

// manifests/overlays/kubesphere/base is manifests/base with other names: kustomize can change a name in a field, but no
// group domain that is part of many. With --update it is written anew (make update).

const source = join(repository, 'manifests/base')
const target = join(repository, 'manifests/overlays/kubesphere/base')
const notice = '# Made by `make update` from manifests/base.\n'

const wanted = new Map(
  globSync('**/*.yaml', { cwd: source }).map(name => [
    name,
    notice + customize(readFileSync(join(source, name), 'utf8'), baseNames, platformNames),
  ]),
)
if (process.argv.includes('--update')) {
  rmSync(target, { recursive: true, force: true })
  for (const [name, text] of wanted) {
    mkdirSync(dirname(join(target, name)), { recursive: true })
    writeFileSync(join(target, name), text)
  }
} else {
  const there = new Map(
    globSync('**/*.yaml', { cwd: target }).map(name => [name, readFileSync(join(target, name), 'utf8')]),
  )
  const names = new Set([...wanted.keys(), ...there.keys()])
  const stale = [...names].filter(name => wanted.get(name) !== there.get(name)).sort()
  if (stale.length > 0) {
    console.error(
      `manifests/overlays/kubesphere/base is not what manifests/base says (${stale.join(', ')}): run make update`,
    )
    process.exitCode = 1
  }
}
