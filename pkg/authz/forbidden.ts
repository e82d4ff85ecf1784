import { type Details, Status, unauthorized } from '../apierrors/status.ts'
import { hasNoCredential, type Identity } from '../apirequest/identity/identity.ts'
import { isPlatformPrefix, type RequestInfo } from '../apirequest/request-info.ts'

/** Returns a 403 with the text of kube-apiserver. @param reason of the authorizer; or '' */
export function forbidden(info: RequestInfo, identity: Identity, reason: string): Status {
  const tail = reason === '' ? '' : `: ${reason}`
  const user = `User ${JSON.stringify(identity.username)}`
  if (!info.isResource) {
    return toForbidden(`forbidden: ${user} cannot ${info.verb} path ${JSON.stringify(info.path)}${tail}`, {})
  }
  const { group, resource, subresource, namespace, name, verb } = info
  const target = group === '' ? resource : `${resource}.${group}`
  const full = subresource === '' ? resource : `${resource}/${subresource}`
  const place = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`
  const what = name === '' ? target : `${target} ${JSON.stringify(name)}`
  const message = `${what} is forbidden: ${user} cannot ${verb} resource ${JSON.stringify(full)} in API group ${JSON.stringify(group)} ${place}${tail}`
  return toForbidden(message, {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind: resource,
  })
}

/**
 * Returns the response to a denied caller. Without a credential it is 401 with a challenge (RFC
 * 6750 section 3) under the prefixes of the platform and kube-apiserver, so that clients log in. On
 * the extension API it is 403, as in kube-apiserver.
 */
export function forbiddenFor(
  info: RequestInfo,
  identity: Identity,
  context: { reason: string; group: string },
): Status {
  const isChallenged =
    isPlatformPrefix(info.prefix) ||
    info.prefix === 'api' ||
    (info.prefix === 'apis' && groupOf(info) !== context.group)
  if (!hasNoCredential(identity) || !isChallenged) return forbidden(info, identity, context.reason)
  return unauthorized()
}

/** Returns the API group of a resource, or of a path of discovery (`/apis/apps/v1`). */
function groupOf({ isResource, group, path }: RequestInfo): string | undefined {
  return isResource ? group : path.split('/').filter(part => part !== '')[1]
}

function toForbidden(message: string, details: Details): Status {
  return new Status(403, 'Forbidden', escapeHtml(message), { details })
}

/** Escapes text of the caller like kube-apiserver, since some clients show the message as HTML. */
function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
