import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { baseNames, platformNames, replaceNames } from '../cmd/kapis/manifests/replace-names.ts'
import { parseConfig } from '../pkg/config/config.ts'
import { renderSchema } from '../pkg/config/json-schema.ts'
import { renderReference } from '../pkg/config/reference.ts'
import { renderChart } from './chart-reference.ts'
import { repository } from './controlplane/settings.ts'
import { renderLicences } from './supply-chain/licences.ts'
import { readLockfile } from './supply-chain/lockfile.ts'
import { renderMessages, renderMetrics } from './telemetry-reference.ts'

export const generatedManifests = 'manifests/overlays/kubesphere/base'

/** Returns every generated file by path, for `make update` and `make verify`. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const { config } = parseConfig({})
  const lockfile = readFileSync(join(repository, 'package-lock.json'), 'utf8')
  return new Map([
    ['docs/chart.md', renderChart(readFileSync(join(repository, 'charts/kapis/values.yaml'), 'utf8'))],
    ['docs/config.md', renderReference(config)],
    ['docs/config.schema.json', renderSchema()],
    ['docs/licences.md', renderLicences(readLockfile({ path: 'package-lock.json', text: lockfile }))],
    ['docs/log-messages.md', renderMessages()],
    ['docs/metrics.md', renderMetrics()],
    ...platformManifests(),
  ])
}

/** Returns manifests/base with the names of KubeSphere, which kustomize cannot replace. */
function platformManifests(): readonly (readonly [string, string])[] {
  const source = join(repository, 'manifests/base')
  const notice = '# Made by `make update` from manifests/base.\n'
  return globSync('**/*.yaml', { cwd: source }).map(name => [
    join(generatedManifests, name),
    notice + replaceNames(readFileSync(join(source, name), 'utf8'), baseNames, platformNames),
  ])
}
