import type { RequestOptions } from 'node:https'
import { dirname, resolve } from 'node:path'
import { readRegularFile } from '../../files/read-regular-file.ts'
import { parseYaml } from '../../yaml/read.ts'
import { isRecord, membersOf } from '../object/object.ts'

export type Fields = Readonly<Record<string, unknown>>

/**
 * Supported keys that neither read a file nor run a program, nor change how the server is verified.
 */
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

/**
 * Reads a kubeconfig whose current context uses a token or a client certificate. Returns undefined
 * for other features (exec plugins, proxies, passwords), which only the client library supports.
 *
 * @throws Error if the file cannot be read
 */
export function readPlainKubeconfig(
  file: string,
): { readonly server: string; readonly options: () => Promise<RequestOptions> } | undefined {
  const { cluster, user } = readCurrentContext(parseYaml(readRegularFile(file).toString('utf8')))
  if (cluster === undefined || user === undefined) return undefined
  const other =
    firstOther(cluster, [...embedded.cluster, 'certificate-authority', 'insecure-skip-tls-verify']) ??
    firstOther(user, [...embedded.user, 'tokenFile', 'client-certificate', 'client-key'])
  if (other !== undefined) return undefined
  const server = text(cluster.server)
  if (server === undefined) return undefined
  const folder = dirname(file)

  return {
    server,
    async options() {
      const ca = content(cluster, 'certificate-authority', folder)
      const cert = content(user, 'client-certificate', folder)
      const key = content(user, 'client-key', folder)
      const token = tokenOf(user, folder)
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

export function readCurrentContext(document: unknown) {
  const { contexts, clusters, users, 'current-context': current } = membersOf(document)
  const context = named(contexts, current, 'context')
  return { cluster: named(clusters, context?.cluster, 'cluster'), user: named(users, context?.user, 'user') }
}

function named(list: unknown, name: unknown, key: string): Fields | undefined {
  const entry = Array.isArray(list) ? list.filter(isRecord).find(one => one.name === name) : undefined
  const value = entry?.[key]
  return isRecord(value) ? value : undefined
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
function content(fields: Fields, name: string, folder: string): string | undefined {
  const data = text(fields[`${name}-data`])
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8')
  const file = text(fields[name])
  return file === undefined ? undefined : readRegularFile(resolve(folder, file)).toString('utf8')
}

/** Returns the token. As in client-go, the file takes precedence over the value. */
function tokenOf(user: Fields, folder: string): string | undefined {
  const file = text(user.tokenFile)
  if (file === undefined) return text(user.token)
  return readRegularFile(resolve(folder, file)).toString('utf8').trim()
}
