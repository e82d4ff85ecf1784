import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../controlplane/settings.ts'
import { createConfigTemplate, createTemplates } from './template.ts'
import { buildVariant, variants } from './variants.ts'

/** The files of charts/kapis that are made from manifests/, by path within it. */
export function chartFiles(kubectl: string): ReadonlyMap<string, string> {
  const texts = new Map(variants.map(variant => [variant.name, buildVariant(variant, kubectl)]))
  const { version, description } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
  const chart = [
    '# Made by `make update` from package.json.',
    'apiVersion: v2',
    'name: kapis',
    `description: ${JSON.stringify(description)}`,
    'type: application',
    `version: ${version}`,
    `appVersion: "${version}"`,
    'kubeVersion: ">=1.30.0-0"',
    '',
  ]
  return new Map([
    ['Chart.yaml', chart.join('\n')],
    ['templates/_config.tpl', createConfigTemplate([...texts.values()][0] ?? '')],
    ...[...createTemplates(texts)].map(([name, text]) => [`templates/${name}`, text] as const),
  ])
}
