import { stringify } from 'yaml'
import { parseConfig } from '../../../pkg/config/config.ts'
import { ConfigError } from '../../../pkg/config/problem.ts'
import { rules } from './rules.ts'
import type { Fields } from './source.ts'
import { createTranslation, type Note, note, put, translate } from './translation.ts'

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
  try {
    parseConfig(structuredClone(translation.config))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    for (const { path, message } of error.problems) note(translation, path, `(of Kapis) ${message}`)
  }
  return {
    file: stringify(translation.config),
    providers: translation.providers
      .map(document => secretOf(document, { groupDomain, namespace }))
      .join('---\n'),
    notes: translation.notes,
  }
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
