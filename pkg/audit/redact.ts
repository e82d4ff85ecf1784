import type { RequestInfo } from '../apirequest/request-info.ts'
import type { Level } from './policy.ts'

// Resources whose bodies contain credentials, in every API group: kinds of kube-apiserver and of
// Kapis.
const secretResources = new Set([
  'secrets',
  'tokenreviews',
  'certificatesigningrequests',
  'users',
  'loginsessions',
  'identityproviders',
  'oauthclients',
])
const secretSubresources = new Set([
  'token',
  'password',
  'kubeconfig',
  'exec',
  'attach',
  'portforward',
  'proxy',
])
const secretParameters = new Set([
  ...['access_token', 'refresh_token', 'id_token', 'token', 'id_token_hint', 'code', 'code_verifier'],
  ...['password', 'client_secret', 'client_assertion', 'assertion', 'state', 'nonce', 'ticket'],
])

/** Returns the level, lowered to Metadata if a body may contain a password, a key or a token. */
export function cappedLevel(level: Level, info: RequestInfo): Level {
  if (level !== 'Request' && level !== 'RequestResponse') return level
  const isSecret = secretResources.has(info.resource) || secretSubresources.has(info.subresource)
  // A form of kapis-oauth, or an unknown path.
  return isSecret || !info.isResource ? 'Metadata' : level
}

/** Returns path and query without the values of parameters that contain credentials. */
export function redactedUri(url: string): string {
  const mark = url.indexOf('?')
  if (mark < 0) return url
  const query = url
    .slice(mark + 1)
    .split('&')
    .map(pair => {
      const equals = pair.indexOf('=')
      const name = equals < 0 ? pair : pair.slice(0, equals)
      return secretParameters.has(decoded(name).toLowerCase()) ? `${name}=[redacted]` : pair
    })
  return `${url.slice(0, mark)}?${query.join('&')}`
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return name
  }
}
