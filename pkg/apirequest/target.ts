import { badRequest, Status } from '../apierrors/status.ts'

/** The request target, split and decoded once. */
export type Target = {
  /** Percent-decoded path. In a member cluster it begins with `/clusters/{cluster}`. */
  readonly path: string
  /** Path and query as received, without the cluster. */
  readonly rawPath: string
  readonly rawQuery: string
  /** Name of the member cluster; '' for this one. */
  readonly cluster: string
}

/** The clusters in paths that are accepted: only `host`, or all. */
export type Clusters = 'host' | 'all'

// Below a proxy subresource, the rest of the path belongs to the proxied server. kube-apiserver
// does not normalize paths, so this rest changes neither the object nor the permission.
const belowProxy = /^\/api\/v1\/(?:namespaces\/[^/]+\/(?:pods|services)|nodes)\/[^/]+\/proxy\//

// RFC 9112 section 3.2.2. A URL with user information does not match and is rejected.
const absoluteForm = /^https?:\/\/[^/?#@]+(?=[/?]|$)/i

/**
 * Matches a cluster name in a path of KubeSphere 3.4, after the prefix, or of later releases,
 * before the prefix. In the latter case kubectl also requests the version and OpenAPI documents.
 */
const inCluster =
  /^(\/(?:kapis|kapi|apis|api))\/clusters\/([^/?]+)(?=[/?]|$)|^\/clusters\/([^/?]+)(?=\/(?:kapis|kapi|apis|api|openapi|version)(?:[/?]|$))/
/** The name of this cluster in KubeSphere. */
export const hostCluster = 'host'
const clusterName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/**
 * Splits the request target. A path in the cluster `host` is equivalent to the path without it; one
 * in a member cluster must not name another cluster. Paths that two parsers could read differently
 * are rejected rather than normalized: the authorizer and the handler must see the same path (RFC
 * 3986 section 6.2.2). Below a proxy subresource of kube-apiserver, any path is passed on unchanged.
 *
 * @param url `req.url`: origin-form or absolute-form (RFC 9112 section 3.2)
 * @throws Status 400; 404 for a path in an unknown cluster
 */
export function parseTarget(target: string, clusters: Clusters = 'host'): Target {
  const { url, cluster } = splitCluster(toOriginForm(target), clusters)
  if (!url.startsWith('/')) throw badRequest('the request target must be an absolute path')
  // RFC 3986 section 2: non-ASCII characters are percent-encoded, and no fragment is sent.
  if (/[^!-~]|#/.test(url))
    throw badRequest('the request target contains a character that must be percent-encoded')
  const mark = url.indexOf('?')
  const rawPath = mark < 0 ? url : url.slice(0, mark)
  const rawQuery = mark < 0 ? '' : url.slice(mark + 1)
  const [base = rawPath] = belowProxy.exec(rawPath) ?? []
  const rest = rawPath.slice(base.length)
  const path = decodeStrictly(base) + decodeLoosely(rest)
  return { path: cluster === '' ? path : `/clusters/${cluster}${path}`, rawPath, rawQuery, cluster }
}

function toOriginForm(target: string): string {
  const [origin] = absoluteForm.exec(target) ?? []
  if (origin === undefined) return target
  const rest = target.slice(origin.length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** @throws Status 400, 404 */
function splitCluster(url: string, clusters: Clusters): Pick<Target, 'cluster'> & { readonly url: string } {
  const [all, prefix = '', first = '', second = ''] = inCluster.exec(url) ?? []
  if (all === undefined) return { url, cluster: '' }
  const cluster = first || second
  const rest = prefix + url.slice(all.length)
  if (cluster === hostCluster) return { url: rest, cluster: '' }
  if (clusters === 'host' || !isClusterName(cluster)) throw unknownCluster(cluster, clusters)
  // A second name would send the request from the member to another cluster.
  if (inCluster.test(rest)) throw badRequest('a path in a cluster must not name another cluster')
  return { url: rest, cluster }
}

export function isClusterName(text: string): boolean {
  return clusterName.test(text)
}

/** Returns the 404 for a name without a Cluster. */
export function unknownCluster(cluster: string, clusters: Clusters): Status {
  const supported =
    clusters === 'host'
      ? `${hostCluster} (multicluster.enabled is false)`
      : 'names of Clusters, which are DNS labels'
  const message = `unknown cluster ${JSON.stringify(cluster.slice(0, 64))}; supported: ${supported}`
  return new Status(404, 'NotFound', message)
}

/** @throws Status 400 for a path that two parsers could read differently */
function decodeStrictly(rawPath: string): string {
  if (rawPath.length > 4096) throw badRequest('the path is longer than 4096 bytes')
  const path = rawPath.includes('%') ? decode(rawPath) : rawPath
  if (path.includes('//')) throw badRequest('the path contains an empty segment ("//")')
  if (path.includes('\\')) throw badRequest('the path contains a backslash')
  if (/\/\.{1,2}(\/|$)/.test(path)) throw badRequest('the path contains a relative segment ("." or "..")')
  return path
}

/**
 * Decodes a path for logging; invalid UTF-8 remains percent-encoded.
 *
 * @throws Status 400 for encodings that kube-apiserver cannot decode either
 */
function decodeLoosely(rawPath: string): string {
  if (/%(?![0-9a-f]{2})/i.test(rawPath)) throw badRequest(invalidEncoding)
  try {
    return decodeURIComponent(rawPath)
  } catch {
    return rawPath
  }
}

const invalidEncoding = 'the path contains an invalid percent-encoding'

/** Formats the request target as received, for the upstream server. */
export function formatTarget({ rawPath, rawQuery }: Pick<Target, 'rawPath' | 'rawQuery'>): string {
  return rawQuery === '' ? rawPath : `${rawPath}?${rawQuery}`
}

function decode(rawPath: string): string {
  if (/%2f|%5c/i.test(rawPath)) throw badRequest('the path contains an encoded slash or backslash')
  let path: string
  try {
    path = decodeURIComponent(rawPath)
  } catch {
    throw badRequest(invalidEncoding)
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it searches for control characters
  if (/[\u0000-\u001f\u007f]/.test(path)) throw badRequest('the path contains an encoded control character')
  return path
}
