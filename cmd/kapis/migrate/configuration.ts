import { stringify } from 'yaml'
import { parseConfig } from '../../../pkg/config/config.ts'
import { ConfigError, type Problem } from '../../../pkg/config/problem.ts'
import { isRecord } from '../../../pkg/kubeclient/object.ts'
import { rules } from './rules.ts'
import type { Fields } from './source.ts'
import { createTranslation, type Note, note, put, type Translation, translate } from './translation.ts'

export type Configuration = {
  /** The file of Kapis, as YAML; with passwords and client secrets. */
  readonly file: string
  /** One Secret per identity provider, as YAML documents; '' if there are none. */
  readonly providers: string
  readonly notes: readonly Note[]
}

/** Translates kubesphere.yaml. Settings that Kapis does not accept are listed in the notes. */
export function toConfiguration(
  source: Fields,
  { groupDomain, namespace }: { readonly groupDomain: string; readonly namespace: string },
): Configuration {
  const translation = createTranslation()
  put(translation, 'groupDomain', groupDomain)
  put(translation, 'kubernetes.namespace', namespace)
  translate(source, rules, '', translation)
  dropRefused(translation)
  return {
    file: stringify(translation.config),
    providers: translation.providers
      .map(document => secretOf(document, { groupDomain, namespace }))
      .join('---\n'),
    notes: translation.notes,
  }
}

/** Leaves out what Kapis would not take, each with a note, so that the rest is a configuration. */
function dropRefused(translation: Translation): void {
  const { config } = translation
  const problems = problemsOf(config)
  for (const { path, message } of problems) {
    note(translation, path, `(of Kapis) ${message}`)
    drop(config, path)
  }
  if (problems.length > 0 && problemsOf(config).length < problems.length) dropRefused(translation)
}

function problemsOf(config: Fields): readonly Problem[] {
  try {
    parseConfig(structuredClone(config))
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

/** Removes the member at a path such as `oauth.clients[0].redirectURIs`; a list only as a whole. */
function drop(config: Record<string, unknown>, path: string): void {
  const [name = '', ...rest] = path.split('.')
  const next = config[name]
  if (rest.length === 0 || !isRecord(next)) delete config[name.replace(/\[.*$/, '')]
  else drop(next, rest.join('.'))
}

function secretOf(document: Fields, o: { readonly groupDomain: string; readonly namespace: string }): string {
  const type = `config.${o.groupDomain}`
  const name = String(document.name ?? '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
  return stringify({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: `identity-provider-${name}`.replace(/-+$/, ''),
      namespace: o.namespace,
      labels: { [`${type}/type`]: 'identityprovider' },
    },
    type: `${type}/identityprovider`,
    stringData: { 'configuration.yaml': stringify(document) },
  })
}
