import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { RequestOptions } from 'node:https'
import { dirname, resolve } from 'node:path'
import { parseYaml } from '../../yaml/read.ts'
import { isRecord } from '../object/object.ts'

type Fields = Readonly<Record<string, unknown>>

const clusterKeys = [
  'server',
  'certificate-authority',
  'certificate-authority-data',
  'insecure-skip-tls-verify',
  'tls-server-name',
  // Fields that do not affect requests and are ignored.
  'disable-compression',
  'extensions',
]
const userKeys = [
  'token',
  'tokenFile',
  'client-certificate',
  'client-certificate-data',
  'client-key',
  'client-key-data',
  'extensions',
]

/**
 * Reads a kubeconfig whose current context uses a token or a client certificate. Returns undefined
 * for other features (exec plugins, proxies, passwords), which only the client library supports.
 *
 * @throws Error if the file cannot be read
 */
export function readPlainKubeconfig(
  file: string,
): { readonly server: string; readonly options: () => Promise<RequestOptions> } | undefined {
  const document: unknown = parseYaml(readFileSync(file, 'utf8'))
  if (!isRecord(document)) return undefined
  const context = named(document.contexts, document['current-context'], 'context')
  const cluster = named(document.clusters, context?.cluster, 'cluster')
  const user = named(document.users, context?.user, 'user')
  if (cluster === undefined || user === undefined) return undefined
  if (!isWithin(cluster, clusterKeys) || !isWithin(user, userKeys)) return undefined
  const server = text(cluster.server)
  if (server === undefined) return undefined
  const folder = dirname(file)

  return {
    server,
    async options() {
      const [ca, cert, key, token] = await Promise.all([
        content(cluster, 'certificate-authority', folder),
        content(user, 'client-certificate', folder),
        content(user, 'client-key', folder),
        tokenOf(user, folder),
      ])
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

function named(list: unknown, name: unknown, key: string): Fields | undefined {
  const entry = Array.isArray(list) ? list.filter(isRecord).find(one => one.name === name) : undefined
  const value = entry?.[key]
  return isRecord(value) ? value : undefined
}

function isWithin(fields: Fields, known: readonly string[]): boolean {
  return Object.keys(fields).every(key => known.includes(key))
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/**
 * Returns `<name>-data` (base64), which takes precedence as in client-go, or the content of the
 * file `<name>`. The file is read again on each call.
 */
async function content(fields: Fields, name: string, folder: string): Promise<string | undefined> {
  const data = text(fields[`${name}-data`])
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8')
  const file = text(fields[name])
  return file === undefined ? undefined : readFile(resolve(folder, file), 'utf8')
}

/** Returns the token. As in client-go, the file takes precedence over the value. */
async function tokenOf(user: Fields, folder: string): Promise<string | undefined> {
  const file = text(user.tokenFile)
  if (file === undefined) return text(user.token)
  return (await readFile(resolve(folder, file), 'utf8')).trim()
}
