import { isPlatformPrefix, type RequestInfo } from '../apirequest/request-info.ts'
import type { Level } from './policy.ts'

// Resources of Kubernetes and Kapis whose bodies contain credentials, regardless of the API group.
const secretResources = new Set([
  'secrets',
  'tokenreviews',
  'certificatesigningrequests',
  'users',
  'loginsessions',
  'identityproviders',
  'oauthclients',
  // With a kubeconfig, as in KubeSphere.
  'clusters',
  // Lists of several kinds, each of which is audited by itself.
  'resources',
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

/** Lowers the level to Metadata if a body may contain a password, a key or a token. */
export function cappedLevel(level: Level, info: RequestInfo): Level {
  if (level !== 'Request' && level !== 'RequestResponse') return level
  const isSecret = secretResources.has(info.resource) || secretSubresources.has(info.subresource)
  // Only the member knows what a path of its platform API contains.
  const isOfMember = info.cluster !== '' && isPlatformPrefix(info.prefix)
  // Non-resource requests include login forms of kapis-oauth and unknown paths.
  return isSecret || isOfMember || !info.isResource ? 'Metadata' : level
}

/** Returns a request URI in which the values of query parameters with credentials are redacted. */
export function redactedUri(url: string): string {
  const mark = url.indexOf('?')
  if (mark < 0) return url
  const query = url
    .slice(mark + 1)
    .split('&')
    .map(pair => {
      const equals = pair.indexOf('=')
      const name = equals < 0 ? pair : pair.slice(0, equals)
      return secretParameters.has(decodeName(name).toLowerCase()) ? `${name}=[redacted]` : pair
    })
  return `${url.slice(0, mark)}?${query.join('&')}`
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return name
  }
}
