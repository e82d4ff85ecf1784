import { isFields, isList, nameOf, type Value } from '../../../pkg/yaml/edit/value.ts'

/** Throws if client-go cannot decode a non-null value as the type of its field. */
type Check = (value: Value, path: string) => void

const text: Check = (value, path) => {
  if (!isText(value)) throw new Error(`${path} is not a string`)
}
const flag: Check = (value, path) => {
  if (typeof value !== 'boolean') throw new Error(`${path} is not a boolean`)
}
const base64: Check = (value, path) => {
  text(value, path)
  if (typeof value === 'string' && !isBase64(value)) throw new Error(`${path} is not base64`)
}
const listOf =
  (item: Check): Check =>
  (value, path) => {
    if (!isList(value)) throw new Error(`${path} is not a list`)
    for (const [index, each] of value.entries()) if (each !== null) item(each, `${path}[${index}]`)
  }
const mapOf =
  (item: Check): Check =>
  (value, path) => {
    if (!isFields(value)) throw new Error(`${path} is not a mapping`)
    for (const [key, each] of value) if (each !== null) item(each, `${path}.${key}`)
  }
const fieldsOf =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value, path) => {
    if (!isFields(value)) throw new Error(`${path || 'the file'} is not a mapping`)
    for (const [key, check] of Object.entries(checks)) {
      const each = value.get(key) ?? null
      if (each !== null) check(each, path === '' ? key : `${path}.${key}`)
    }
  }

const extensions = listOf(fieldsOf({ name: text }))
const cluster = fieldsOf({
  server: text,
  'tls-server-name': text,
  'insecure-skip-tls-verify': flag,
  'certificate-authority': text,
  'certificate-authority-data': base64,
  'proxy-url': text,
  'disable-compression': flag,
  extensions,
})
const context = fieldsOf({ cluster: text, user: text, namespace: text, extensions })
const exec = fieldsOf({
  command: text,
  args: listOf(text),
  env: listOf(fieldsOf({ name: text, value: text })),
  apiVersion: text,
  installHint: text,
  provideClusterInfo: flag,
  interactiveMode: text,
})
const user = fieldsOf({
  'client-certificate': text,
  'client-certificate-data': base64,
  'client-key': text,
  'client-key-data': base64,
  token: text,
  tokenFile: text,
  as: text,
  'as-uid': text,
  'as-groups': listOf(text),
  'as-user-extra': mapOf(listOf(text)),
  username: text,
  password: text,
  'auth-provider': fieldsOf({ name: text, config: mapOf(text) }),
  exec,
  extensions,
})
/** The fields of `Config` in client-go's tools/clientcmd/api/v1; other fields are ignored. */
const config = fieldsOf({
  apiVersion: only('v1'),
  kind: only('Config'),
  'current-context': text,
  preferences: fieldsOf({ colors: flag, extensions }),
  clusters: listWithUniqueNames(fieldsOf({ name: text, cluster })),
  contexts: listWithUniqueNames(fieldsOf({ name: text, context })),
  users: listWithUniqueNames(fieldsOf({ name: text, user })),
  extensions,
})

/** Rejects a kubeconfig that kubectl cannot load, with any entry. @throws Error */
export function assertLoadable(value: Value): void {
  if (value !== null) config(value, '')
}

function listWithUniqueNames(item: Check): Check {
  const list = listOf(item)
  return (value, path) => {
    list(value, path)
    const names = new Set<string>()
    for (const name of isList(value) ? value.map(nameOf) : []) {
      if (names.has(name)) throw new Error(`duplicate name ${JSON.stringify(name)} in ${path}`)
      names.add(name)
    }
  }
}

function only(allowed: string): Check {
  return (value, path) => {
    text(value, path)
    if (value !== '' && value !== allowed)
      throw new Error(`${path} ${JSON.stringify(value)} is not ${allowed}`)
  }
}

/** Reports whether go-yaml reads a string, which includes scalars with a tag (!!binary). */
function isText(value: Value): boolean {
  if (typeof value === 'string') return true
  return typeof value === 'object' && value !== null && 'source' in value && /^(!|tag:)/.test(value.source)
}

/** Reports whether Go can decode a text as base64; Go ignores line breaks. */
function isBase64(encoded: string): boolean {
  const bare = encoded.replace(/[\r\n]/g, '')
  return bare.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(bare)
}
