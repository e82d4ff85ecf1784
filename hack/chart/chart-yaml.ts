import { createHash } from 'node:crypto'
import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../controlplane/settings.ts'

/** What the templates are made from, next to the programs that make them. */
const sources = ['manifests/**', 'hack/chart/*.ts', 'cmd/kapis/manifests/customize.ts']

/**
 * Chart.yaml. Only kubectl can make the templates, and `make verify` is to do without it: the digest is of all that they were
 * made from and of the templates themselves, so that a change of either is seen.
 *
 * @param templates the templates that are made, by path within the chart
 */
export function renderChartYaml(templates: ReadonlyMap<string, string>): string {
  const { version, description } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
  return [
    '# Made by `make update` from package.json.',
    'apiVersion: v2',
    'name: kapis',
    `description: ${JSON.stringify(description)}`,
    'type: application',
    `version: ${version}`,
    `appVersion: "${version}"`,
    'kubeVersion: ">=1.30.0-0"',
    `# The manifests and templates: sha256:${digest(templates)}`,
    '',
  ].join('\n')
}

function digest(templates: ReadonlyMap<string, string>): string {
  const files = globSync(sources, { cwd: repository }).filter(
    name => !name.endsWith('.test.ts') && statSync(join(repository, name)).isFile(),
  )
  const all = new Map([
    ...files.map(name => [name, readFileSync(join(repository, name), 'utf8')] as const),
    ...templates,
  ])
  const hash = createHash('sha256')
  for (const [name, text] of [...all].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`${name}\0${Buffer.byteLength(text)}\0${text}`)
  }
  return hash.digest('hex')
}
