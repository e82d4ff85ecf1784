import { X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { parseYaml } from '../../yaml/read.ts'
import { embedded, type Fields, firstOther, readCurrentContext, text } from './kubeconfig.ts'
import type { Access } from './rest-config.ts'

/** The URL of a server, and a credential for it that does not change. */
export type EmbeddedCredential = { readonly url: URL; readonly access: Access }

/**
 * Reads a kubeconfig of unknown origin. Its current context must have an https server, and contain
 * a token or a client certificate. Keys that read a file, run a program, select a proxy or disable
 * the verification of the server are rejected.
 *
 * @throws Error with the reason, without any value of the kubeconfig
 */
export function readEmbeddedKubeconfig(source: string): EmbeddedCredential {
  const { cluster, user } = readCurrentContext(parse(source))
  if (cluster === undefined || user === undefined)
    throw new Error('the kubeconfig has no current context with a cluster and a user')
  const { 'insecure-skip-tls-verify': skips = false, ...others } = cluster
  rejectOther('cluster', skips === false ? others : cluster, embedded.cluster)
  rejectOther('user', user, embedded.user)
  const server = text(cluster.server) ?? ''
  if (!isHttpsUrl(server))
    throw new Error('the server of the kubeconfig must be an https URL without user, query and fragment')
  const token = text(user.token)
  if (token !== undefined && !/^[!-~]+$/.test(token)) throw new Error('the kubeconfig has an invalid token')
  const servername = text(cluster['tls-server-name'])
  const tls: Pems = {
    ...decodePem('ca', cluster['certificate-authority-data']),
    ...decodePem('cert', user['client-certificate-data']),
    ...decodePem('key', user['client-key-data']),
  }
  if (token === undefined && (tls.cert === undefined || tls.key === undefined))
    throw new Error('the kubeconfig has neither a token nor a client certificate with its key')
  assertTls(tls)
  const headers = token === undefined ? [] : ['Authorization', `Bearer ${token}`]
  const access = { tls: { ...tls, ...(servername === undefined ? {} : { servername }) }, headers }
  return { url: new URL(server), access }
}

/** Returns whether a URL has the scheme https, and neither user, query nor fragment. */
export function isHttpsUrl(value: string): boolean {
  const url = URL.parse(value)
  return url?.protocol === 'https:' && !/[?#@]/.test(value)
}

/** Parses YAML. The error of the parser is replaced, since it would quote the kubeconfig. */
function parse(source: string): unknown {
  try {
    return parseYaml(source)
  } catch {
    throw new Error('the kubeconfig is not valid YAML')
  }
}

function rejectOther(what: string, fields: Fields, known: readonly string[]): void {
  const other = firstOther(fields, known)
  if (other === undefined) return
  throw new Error(
    `unsupported key ${JSON.stringify(other.slice(0, 64))} in the ${what} of the kubeconfig; supported: ${known.join(', ')}`,
  )
}

type Pems = { readonly ca?: string; readonly cert?: string; readonly key?: string }

function decodePem(name: keyof Pems, data: unknown): Pems {
  const value = text(data)
  return value === undefined ? {} : { [name]: Buffer.from(value, 'base64').toString('utf8') }
}

function assertTls(tls: Pems): void {
  try {
    createSecureContext(tls)
    if (tls.ca !== undefined) assertCa(tls.ca)
  } catch {
    throw new Error('the kubeconfig has an invalid certificate or key')
  }
}

/**
 * createSecureContext ignores text that is not a certificate, so that no server would be trusted.
 *
 * @throws Error unless the PEM begins with a certificate
 */
export function assertCa(pem: string): void {
  new X509Certificate(pem)
}
