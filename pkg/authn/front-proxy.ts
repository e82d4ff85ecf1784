import type { IncomingMessage } from 'node:http'
import type { Identity } from '../request/identity.ts'
import type { AuthenticationConfig } from './authentication-config.ts'
import type { Authenticator } from './authenticator.ts'
import { type Chain, isTrusted, readPeerChain, subjectValues } from './certificate-chain.ts'

/**
 * The caller as kube-apiserver's aggregator tells it in headers. They count only on a connection whose certificate leads to
 * the front-proxy authority alone, with an allowed name: anybody can write a header.
 */
export function createFrontProxyAuthenticator(config: () => AuthenticationConfig | undefined): Authenticator {
  const verdicts = new WeakMap<object, { config: AuthenticationConfig; chain: Chain }>()
  // kube-apiserver sends the same few callers again and again.
  const identities = new Map<string, Identity>()
  return {
    name: 'front-proxy',
    authenticate(req) {
      const current = config()
      if (current === undefined || !isFrontProxy(req, current, verdicts)) return null
      const identity = readIdentity(req, current)
      if (identity === null) return null
      const key = JSON.stringify([identity.username, identity.uid, identity.groups, identity.extra])
      const known = identities.get(key)
      if (known) return known
      if (identities.size >= 4096) identities.clear()
      identities.set(key, identity)
      return identity
    },
  }
}

/** Whether the peer is the front proxy; the chain is checked once a connection and configuration, its time always. */
export function isFrontProxy(
  req: IncomingMessage,
  config: AuthenticationConfig,
  verdicts: WeakMap<object, { config: AuthenticationConfig; chain: Chain }>,
): boolean {
  const nowMs = Date.now()
  const known = verdicts.get(req.socket)
  if (known?.config === config) {
    return known.chain.every(({ validToDate }) => nowMs <= validToDate.getTime()) && known.chain.length > 0
  }
  const chain = readPeerChain(req)
  const [leaf] = chain
  const isProxy =
    leaf !== undefined &&
    isTrusted(chain, config.proxyAuthorities, nowMs) &&
    (config.allowedNames.length === 0 ||
      subjectValues(leaf, 'CN').some(name => config.allowedNames.includes(name)))
  verdicts.set(req.socket, { config, chain: isProxy && leaf ? [leaf] : [] })
  return isProxy
}

/** Reads the headers one by one: joined by commas, as node gives repeated ones, groups could not be told apart. */
function readIdentity(req: IncomingMessage, config: AuthenticationConfig): Identity | null {
  const values = (names: readonly string[]) =>
    names.flatMap(name => req.headersDistinct[name] ?? []).map(decodeUtf8)
  const username = values(config.usernameHeaders).find(value => value !== '')
  if (username === undefined) return null
  const extra: Record<string, string[]> = {}
  for (const [name, given = []] of Object.entries(req.headersDistinct)) {
    const prefix = config.extraHeaderPrefixes.find(candidate => name.startsWith(candidate))
    if (prefix === undefined) continue
    const key = percentDecode(name.slice(prefix.length))
    extra[key] = [...(extra[key] ?? []), ...given.map(decodeUtf8)]
  }
  return {
    username,
    // Only where kube-apiserver says that it sets the header: an older one passes on what its caller wrote.
    uid: values(config.uidHeaders).find(value => value !== '') ?? '',
    groups: values(config.groupHeaders).filter(value => value !== ''),
    extra,
  }
}

/** Header bytes come as latin1 (RFC 9110 section 5.5); Kubernetes writes UTF-8. */
function decodeUtf8(value: string): string {
  return Buffer.from(value, 'latin1').toString('utf8')
}

function percentDecode(text: string): string {
  try {
    return decodeURIComponent(text).toLowerCase()
  } catch {
    return text
  }
}
