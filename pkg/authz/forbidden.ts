import { type Details, Status, unauthorized } from '../apierrors/status.ts'
import { hasNoCredential, type Identity } from '../apirequest/identity.ts'
import type { RequestInfo } from '../apirequest/request-info.ts'

/**
 * The 403 of kube-apiserver, word for word: kubectl and people read it.
 *
 * @param reason what the authorizer said; '' leaves it out
 */
export function forbidden(info: RequestInfo, identity: Identity, reason: string): Status {
  const tail = reason === '' ? '' : `: ${reason}`
  const user = `User ${JSON.stringify(identity.username)}`
  if (!info.isResource) {
    return refuse(`forbidden: ${user} cannot ${info.verb} path ${JSON.stringify(info.path)}${tail}`, {})
  }
  const { group, resource, subresource, namespace, name, verb } = info
  const target = group === '' ? resource : `${resource}.${group}`
  const full = subresource === '' ? resource : `${resource}/${subresource}`
  const place = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`
  const what = name === '' ? target : `${target} ${JSON.stringify(name)}`
  const message = `${what} is forbidden: ${user} cannot ${verb} resource ${JSON.stringify(full)} in API group ${JSON.stringify(group)} ${place}${tail}`
  return refuse(message, {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind: resource,
  })
}

/**
 * The response for a caller without credentials. Under the platform's and kube-apiserver's prefixes it is 401 with a
 * challenge (RFC 6750 section 3), so that clients log in; on the aggregated API it is kube-apiserver's 403.
 */
export function refusalFor(
  info: RequestInfo,
  identity: Identity,
  context: { reason: string; group: string },
): Status {
  const isChallenged =
    /^(kapis|kapi|api)$/.test(info.prefix) ||
    (info.prefix === 'apis' && info.isResource && info.group !== context.group)
  if (!hasNoCredential(identity) || !isChallenged) return forbidden(info, identity, context.reason)
  return unauthorized()
}

function refuse(message: string, details: Details): Status {
  return new Status(403, 'Forbidden', escapeHtml(message), { details })
}

/** As kube-apiserver: the message repeats what the caller wrote, and some clients show it as a page. */
function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
