import type { RequestOptions } from 'node:https'
import { dirname, resolve } from 'node:path'
import { readRegularFile } from '../../files/read-regular-file.ts'
import { parseYaml, YamlError } from '../../yaml/read.ts'
import { fieldsOf, isRecord } from '../object/object.ts'

export type Fields = Readonly<Record<string, unknown>>

/** Supported keys that read no file, run no program and keep verifying the server. */
export const embedded = {
  cluster: [
    'server',
    'certificate-authority-data',
    'tls-server-name',
    // Fields that do not affect requests and are ignored.
    'disable-compression',
    'extensions',
  ],
  user: ['token', 'client-certificate-data', 'client-key-data', 'extensions'],
}

/** A context of one or more files, by default the current one, and the entries that it names. */
export type CurrentContext = {
  readonly name: unknown
  readonly context: Fields | undefined
  readonly cluster: Fields | undefined
  readonly user: Fields | undefined
}

type Document = { readonly content: unknown; readonly folder: string }

/**
 * Reads a context of a list of files, by default the current one, as kubectl merges them: the first
 * file that defines a name takes precedence. Relative paths are made absolute; each is relative to its own file.
 *
 * @throws Error if a file cannot be read
 */
export function readContext(files: readonly string[], context?: string): CurrentContext {
  return contextOf(
    files.map(file => ({
      content: parse(file, readRegularFile(file).toString('utf8')),
      folder: dirname(resolve(file)),
    })),
    context,
  )
}

/** The message of the parser would quote the file, which contains credentials. */
function parse(file: string, text: string): unknown {
  try {
    return parseYaml(text)
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    throw new Error(`the kubeconfig ${file} ${error.problem}`)
  }
}

/**
 * Returns the credentials of a context with a token or a client certificate. Returns undefined for
 * other features (exec plugins, proxies, passwords), which only the client library supports.
 */
export function toPlainCredentials({
  cluster,
  user,
}: Pick<CurrentContext, 'cluster' | 'user'>):
  | { readonly server: string; readonly options: () => Promise<RequestOptions> }
  | undefined {
  if (cluster === undefined || user === undefined) return undefined
  const other =
    firstOther(cluster, [...embedded.cluster, 'certificate-authority', 'insecure-skip-tls-verify']) ??
    firstOther(user, [...embedded.user, 'tokenFile', 'client-certificate', 'client-key'])
  if (other !== undefined) return undefined
  const server = text(cluster.server)
  if (server === undefined) return undefined

  return {
    server,
    async options() {
      const ca = content(cluster, 'certificate-authority')
      const cert = content(user, 'client-certificate')
      const key = content(user, 'client-key')
      const token = tokenOf(user)
      const servername = text(cluster['tls-server-name'])
      return {
        headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
        ...(ca === undefined ? {} : { ca }),
        ...(cert === undefined ? {} : { cert }),
        ...(key === undefined ? {} : { key }),
        ...(servername === undefined ? {} : { servername }),
        ...(cluster['insecure-skip-tls-verify'] === true ? { rejectUnauthorized: false } : {}),
      }
    },
  }
}

export function readCurrentContext(content: unknown): CurrentContext {
  return contextOf([{ content, folder: '/' }])
}

function contextOf(documents: readonly Document[], given?: string): CurrentContext {
  const currents = documents.map(({ content }) => fieldsOf(content)['current-context'])
  const name = given ?? currents.find(current => text(current) !== undefined)
  const context = findEntry(documents, 'context', name)
  const cluster = findEntry(documents, 'cluster', context?.cluster)
  return { name, context, cluster, user: findEntry(documents, 'user', context?.user) }
}

/** The fields with a path of a file. */
const paths: readonly string[] = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile']

function findEntry(
  documents: readonly Document[],
  key: 'context' | 'cluster' | 'user',
  name: unknown,
): Fields | undefined {
  if (text(name) === undefined) return undefined
  for (const { content, folder } of documents) {
    const list = fieldsOf(content)[`${key}s`]
    const entry = Array.isArray(list) ? list.filter(isRecord).find(one => one.name === name) : undefined
    if (entry === undefined) continue
    const value = entry[key]
    return isRecord(value) ? withPaths(value, folder) : undefined
  }
  return undefined
}

function withPaths(fields: Fields, folder: string): Fields {
  const { exec } = fields
  const found = paths.flatMap(name => {
    const path = text(fields[name])
    return path === undefined ? [] : [[name, resolve(folder, path)]]
  })
  // A command without a slash is found in PATH.
  const command = isRecord(exec) ? text(exec.command) : undefined
  const program = command?.includes('/')
    ? { exec: { ...fieldsOf(exec), command: resolve(folder, command) } }
    : {}
  return { ...fields, ...Object.fromEntries(found), ...program }
}

/** Returns the first unknown key; undefined if all keys are known. */
export function firstOther(fields: Fields, known: readonly string[]): string | undefined {
  return Object.keys(fields).find(key => !known.includes(key))
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/**
 * Returns `<name>-data` (base64), which takes precedence as in client-go, or the content of the
 * file `<name>`. The file is read again on each call.
 */
function content(fields: Fields, name: string): string | undefined {
  const data = text(fields[`${name}-data`])
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8')
  const file = text(fields[name])
  return file === undefined ? undefined : readRegularFile(file).toString('utf8')
}

/** Returns the token. As in client-go, the file takes precedence over the value. */
function tokenOf(user: Fields): string | undefined {
  const file = text(user.tokenFile)
  if (file === undefined) return text(user.token)
  return readRegularFile(file).toString('utf8').trim()
}
