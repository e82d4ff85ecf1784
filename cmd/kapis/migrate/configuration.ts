import { stringify } from 'yaml'
import { parseConfig } from '../../../pkg/config/config.ts'
import { ConfigError, type Problem } from '../../../pkg/config/config-error.ts'
import { fieldsOf, isRecord, itemsOf } from '../../../pkg/kubeclient/object/object.ts'
import { optionNames, rules } from './configuration-rules.ts'
import type { Fields } from './kubesphere-configuration.ts'
import { createTranslation, type Note, note, put, type Translation, translate } from './translate-keys.ts'

export type Configuration = {
  /** The configuration file of Kapis as YAML, including passwords and client secrets. */
  readonly file: string
  /** One Secret per identity provider, as YAML documents; '' if there are none. */
  readonly providers: string
  readonly notes: readonly Note[]
}

/** Translates kubesphere.yaml. The notes list settings that Kapis does not accept. */
export function toConfiguration(
  source: Fields,
  { groupDomain, namespace }: { readonly groupDomain: string; readonly namespace: string },
): Configuration {
  const translation = createTranslation()
  put(translation, 'groupDomain', groupDomain)
  put(translation, 'kubernetes.namespace', namespace)
  translate(withKnownNames(source, optionNames), rules, '', translation)
  dropRefused(translation)
  return {
    file: stringify(translation.config),
    providers: secretsOf(translation.providers, { groupDomain, namespace }).join('---\n'),
    notes: translation.notes,
  }
}

/** Removes options that Kapis would reject, with a note for each, so that the rest is valid. */
function dropRefused(translation: Translation): void {
  const { config, notes } = translation
  const problems = problemsOf(config)
  for (const { path, message } of problems) {
    const rejected = `rejected by Kapis: ${message}`
    if (!notes.some(other => other.path === path && other.message === rejected))
      note(translation, path, rejected)
  }
  const places = withoutParts(problems).map(path => ({ path, place: existingPlace(config, path) }))
  for (const { path, place } of places) {
    const item = itemAt(config, place)
    if (item !== undefined) note(translation, place, `${item} is omitted`)
    else if (place !== path && place !== '')
      note(translation, place, `is omitted: Kapis rejects it without a valid ${path}`)
    drop(config, place)
  }
  if (places.some(({ place }) => place !== '')) dropRefused(translation)
}

/**
 * Returns the path of an option, or of the section around one that is not there: other options
 * require it, or do not fit its default. '' if there is no such section either.
 */
function existingPlace(config: Fields, path: string): string {
  const isThere = (place: string) =>
    place.split('.').reduce<unknown>((at, key) => fieldsOf(at)[key], config) !== undefined
  let place = path
  while (place !== '' && !place.endsWith(']') && !isThere(place))
    place = place.slice(0, Math.max(place.lastIndexOf('.'), 0))
  return place
}

/**
 * Returns one path per item of a list, in descending order, so that removing an item does not change
 * the index of the next one.
 */
function withoutParts(problems: readonly Problem[]): readonly string[] {
  const paths = problems.map(({ path }) => /^.*?\[\d+\]/.exec(path)?.[0] ?? path)
  const place = (path: string) => Number(/\[(\d+)\]$/.exec(path)?.[1] ?? 0)
  return [...new Set(paths)].sort((a, b) => place(b) - place(a))
}

/** Returns the name of the list item at the end of a path; undefined for any other path. */
function itemAt(config: Fields, path: string): string | undefined {
  if (!path.endsWith(']')) return undefined
  const [list = '', index = ''] = path.split(/[[\]]/)
  const items = list.split('.').reduce<unknown>((at, key) => fieldsOf(at)[key], config)
  const { name } = fieldsOf(itemsOf(items)[Number(index)])
  return typeof name === 'string' ? JSON.stringify(name) : 'it'
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

/** Removes the field at a path such as `logs.store`, or the item at `oauth.clients[0]`. */
function drop(config: Record<string, unknown>, path: string): void {
  const [name = '', ...rest] = path.split('.')
  const [key = '', index] = name.split(/[[\]]/)
  const next = config[key]
  if (index !== undefined && Array.isArray(next)) config[key] = next.toSpliced(Number(index), 1)
  else if (rest.length === 0 || !isRecord(next)) delete config[key]
  else drop(next, rest.join('.'))
}

type Installation = { readonly groupDomain: string; readonly namespace: string }

/** Returns a Secret for each provider, with different names also for `a.b` and `a_b`. */
function secretsOf(documents: readonly Fields[], o: Installation): readonly string[] {
  const used = new Set<string>()
  return documents.map(document => {
    const name = String(document.name ?? '')
      .toLowerCase()
      .replaceAll(/[^a-z0-9-]+/g, '-')
    const secretName = `identity-provider-${name}`.replace(/-+$/, '')
    let free = secretName
    for (let n = 2; used.has(free); n++) free = `${secretName}-${n}`
    used.add(free)
    return secretOf(document, free, o)
  })
}

function secretOf(document: Fields, name: string, o: Installation): string {
  const type = `config.${o.groupDomain}`
  return stringify({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace: o.namespace,
      labels: { [`${type}/type`]: 'identityprovider' },
    },
    type: `${type}/identityprovider`,
    stringData: { 'configuration.yaml': stringify(document) },
  })
}

/** Names in sections that Kapis takes over as they are. */
const ofProviders = [
  ...['name', 'type', 'mappingMethod', 'disableLoginConfirmation', 'provider', 'endpoint', 'scopes'],
  ...['clientID', 'clientSecret', 'redirectURL', 'issuer', 'getUserInfo', 'emailKey', 'preferredUsernameKey'],
  ...['authURL', 'tokenURL', 'userInfoURL', 'jwksURL', 'endSessionURL', 'insecureSkipVerify', 'readTimeout'],
  ...['host', 'startTLS', 'rootCA', 'rootCAData', 'managerDN', 'managerPassword', 'loginAttribute'],
  ...['userSearchBase', 'userSearchFilter', 'groupSearchBase', 'groupSearchFilter', 'mailAttribute'],
  ...['userMemberAttribute', 'groupMemberAttribute'],
]

/** Returns a configuration with the usual case of all keys, which KubeSphere ignores. */
function withKnownNames(source: Fields, others: readonly string[]): Fields {
  const known = new Map([...others, ...ofProviders].map(name => [name.toLowerCase(), name]))
  const nameOf = (key: string) => known.get(key.toLowerCase()) ?? key
  function rename(value: unknown): unknown {
    return Array.isArray(value) ? value.map(rename) : isRecord(value) ? renamed(value) : value
  }
  function renamed(fields: Fields): Fields {
    const entries = Object.entries(fields)
      // The usual name takes precedence over the same name in another case.
      .filter(([key]) => nameOf(key) === key || !Object.hasOwn(fields, nameOf(key)))
    return Object.fromEntries(entries.map(([key, value]) => [nameOf(key), rename(value)]))
  }
  return renamed(source)
}
