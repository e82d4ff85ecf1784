import { renderChartYaml } from './chart-yaml.ts'
import { createConfigTemplate, createTemplates } from './template.ts'
import { buildVariant, variants } from './variants.ts'

/** The files of charts/kapis that are made from manifests/, by path within it. */
export function chartFiles(kubectl: string): ReadonlyMap<string, string> {
  const texts = new Map(variants.map(variant => [variant.name, buildVariant(variant, kubectl)]))
  const templates = new Map([
    ['templates/_config.tpl', createConfigTemplate(texts)],
    ...[...createTemplates(texts)].map(([name, text]) => [`templates/${name}`, text] as const),
  ])
  return new Map([['Chart.yaml', renderChartYaml(templates)], ...templates])
}
