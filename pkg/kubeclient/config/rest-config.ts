import type { RequestOptions } from 'node:https'
import type { TlsOptions } from '../../http/pool.ts'
import { readKubeconfig, readServiceAccount } from './credentials.ts'

/** Connection settings for kube-apiserver; the same object while nothing changes. */
export type Access = {
  readonly tls: TlsOptions
  /** The headers with the credential: name, value, name, value. */
  readonly headers: readonly string[]
}

/** The address of kube-apiserver, and the credentials of Kapis. */
export type RestConfig = {
  readonly url: URL
  /** Returns the settings with the current credential, which another program may rotate. */
  readonly access: () => Promise<Access> | Access
  /** Must be called after a 401; reads the credential again, at most once per second. */
  readonly credentialRejected: () => void
}

const credentialTtlMs = 60_000
const rejectedTtlMs = 1_000

/**
 * Reads a kubeconfig (several files are merged), or the service account of the Pod without any. Of the client
 * library, only the credential handling is used: its requests cost several times those of a
 * keep-alive connection.
 *
 * @param context of the kubeconfig; the current one by default
 */
export function loadRestConfig(kubeconfig: string | readonly string[], context?: string): RestConfig {
  const files = [kubeconfig].flat().filter(file => file !== '')
  // These variables are set by the kubelet; only pkg/config reads settings of Kapis.
  const credentials = files.length === 0 ? readServiceAccount(process.env) : readKubeconfig(files, context)
  let tls: TlsOptions | undefined
  let tlsKey = ''
  let current: { readonly access: Access; readonly readAt: number; until: number } | undefined

  async function refresh(): Promise<Access> {
    const options = await credentials.options()
    const read = toTls(options)
    const key = JSON.stringify(Object.entries(read).map(([name, value]) => [name, String(value)]))
    if (tls === undefined || key !== tlsKey) {
      tls = read
      tlsKey = key
    }
    const headers = toHeaders(options)
    const readAt = performance.now()
    const access = { tls, headers }
    current = { access, readAt, until: readAt + credentialTtlMs }
    return access
  }

  return {
    url: new URL(credentials.server),
    access: () => (current && current.until > performance.now() ? current.access : refresh()),
    credentialRejected() {
      if (current) current.until = Math.min(current.until, current.readAt + rejectedTtlMs)
    },
  }
}

/** Returns the settings for the same server without the credential. */
export function withoutCredential({ url, access }: RestConfig): RestConfig {
  let known: { readonly tls: TlsOptions; readonly access: Access } | undefined
  return {
    url,
    async access() {
      const { tls } = await access()
      if (known?.tls === tls) return known.access
      const { cert: _cert, key: _key, passphrase: _passphrase, pfx: _pfx, ...rest } = tls
      known = { tls, access: { tls: rest, headers: [] } }
      return known.access
    },
    credentialRejected: () => undefined,
  }
}

function toTls({
  ca,
  cert,
  key,
  passphrase,
  pfx,
  rejectUnauthorized,
  servername,
}: RequestOptions): TlsOptions {
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(pfx === undefined ? {} : { pfx }),
    ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
    ...(servername === undefined ? {} : { servername }),
  }
}

function toHeaders({ headers = {}, auth }: RequestOptions): string[] {
  const lines = Object.entries(headers).flatMap(([name, value]) => [name, String(value)])
  if (auth) lines.push('Authorization', `Basic ${Buffer.from(auth, 'utf8').toString('base64')}`)
  return lines
}
