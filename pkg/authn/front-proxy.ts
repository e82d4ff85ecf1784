import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Status } from '../apierrors/status.ts'
import { type Identity, identityBytes } from '../apirequest/identity/identity.ts'
import { decodeExtraKey, decodeHeaderText } from '../apirequest/identity/identity-header-encoding.ts'
import { createBoundedCache } from '../cache/bounded-cache.ts'
import { tlsSocketOf } from '../httpserver/tls-socket.ts'
import type { AuthenticationConfig } from './authentication-config.ts'
import type { Authenticator } from './authenticator.ts'
import {
  assertNoPeerCertificate,
  type Chain,
  commonName,
  isTrusted,
  readPeerChain,
} from './certificate-chain.ts'

const maxCacheBytes = 16 * 1024 * 1024

/**
 * Authenticates the identity headers of the aggregator of kube-apiserver. Any client can send these
 * headers, so they only count if the front-proxy CA has issued the client certificate of the
 * connection, for an allowed name.
 */
export function createFrontProxyAuthenticator(config: () => AuthenticationConfig | undefined): Authenticator {
  const verdicts = new WeakMap<object, { config: AuthenticationConfig; chain: Chain }>()
  // kube-apiserver repeatedly sends requests of the same few callers.
  const identities = createBoundedCache<Identity>({ maxBytes: maxCacheBytes, sizeOf: identityBytes })
  return {
    name: 'front-proxy',
    authenticate(req) {
      const current = config()
      if (current === undefined) {
        assertNoPeerCertificate(req)
        return null
      }
      if (!isFrontProxy(req, current, verdicts)) return null
      const identity = readIdentity(req, current)
      if (identity === null) return null
      const { username, uid, groups, extra, isTrimmed } = identity
      const key = hash('sha256', JSON.stringify([username, uid, groups, extra, isTrimmed]), 'base64')
      const known = identities.get(key)
      if (known) return known
      identities.set(key, identity)
      return identity
    },
  }
}

/**
 * Reports whether the peer is the front proxy. The chain is verified once for each connection and
 * configuration, its validity for each request.
 */
export function isFrontProxy(
  req: IncomingMessage,
  config: AuthenticationConfig,
  verdicts: WeakMap<object, { config: AuthenticationConfig; chain: Chain }>,
): boolean {
  const connection = tlsSocketOf(req)
  if (connection === undefined) return false
  const nowMs = Date.now()
  const known = verdicts.get(connection)
  if (known?.config === config) {
    return known.chain.every(({ validToDate }) => nowMs <= validToDate.getTime()) && known.chain.length > 0
  }
  const chain = readPeerChain(req)
  const [leaf] = chain
  const isProxy =
    leaf !== undefined &&
    isTrusted(req, chain, config.proxyAuthorities, nowMs) &&
    (config.allowedNames.length === 0 || config.allowedNames.includes(commonName(leaf)))
  verdicts.set(connection, { config, chain: isProxy && leaf ? [leaf] : [] })
  return isProxy
}

/**
 * Reads the raw headers: Node.js joins repeated headers with commas, so groups with commas would be
 * ambiguous.
 *
 * @throws Status 403 for invalid UTF-8, which could result in the name of another user
 */
function readIdentity(req: IncomingMessage, config: AuthenticationConfig): Identity | null {
  const values = (names: readonly string[]) =>
    names.flatMap(name => (req.headersDistinct[name] ?? []).map(value => decode(name, value)))
  const username = values(config.usernameHeaders).find(value => value !== '')
  if (username === undefined) return null
  const extra = new Map<string, string[]>()
  for (const [name, values = []] of Object.entries(req.headersDistinct)) {
    const prefix = config.extraHeaderPrefixes.find(candidate => name.startsWith(candidate))
    if (prefix === undefined) continue
    const key = decodeExtraKey(name.slice(prefix.length))
    if (key === undefined) throw invalidUtf8(`the name of the header ${name}`)
    extra.set(key, [...(extra.get(key) ?? []), ...values.map(value => decode(name, value))])
  }
  return {
    username,
    // Only read if kube-apiserver is configured to set the uid header: otherwise it passes on the
    // header of its caller.
    uid: values(config.uidHeaders).find(value => value !== '') ?? '',
    groups: values(config.groupHeaders).filter(value => value !== ''),
    extra: Object.fromEntries(extra),
    // The HTTP/1.1 client of kube-apiserver strips spaces. Over HTTP/2 spaces arrive here, and the
    // identity is rejected.
    ...(tlsSocketOf(req)?.alpnProtocol === 'h2' ? {} : { isTrimmed: true }),
  }
}

function decode(name: string, value: string): string {
  const text = decodeHeaderText(value)
  if (text === undefined) throw invalidUtf8(`the header ${name}`)
  return text
}

function invalidUtf8(what: string): Status {
  return new Status(403, 'Forbidden', `${what} is not valid UTF-8`)
}
