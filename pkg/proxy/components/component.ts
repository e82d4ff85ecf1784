import { isRecord, type KubeObject } from '../../kubeclient/object/object.ts'

/** The API of a component under /kapis/{group}/{version}, from its APIService. */
export type Component = {
  /** Name of the APIService. */
  readonly name: string
  readonly group: string
  readonly version: string
  /** Base URL of all request paths. With plain http, the component receives no identity headers. */
  readonly url: URL
  /** Host name expected in the serving certificate, if it differs from the host of the URL. */
  readonly serverName: string | undefined
  readonly caPem: string | undefined
  readonly isVerified: boolean
  readonly timeoutMs: number
}

/** A valid component, or the reason and message of the condition for an invalid APIService. */
export type ParsedComponent =
  | Component
  | { readonly name: string; readonly reason: string; readonly message: string }

const defaultTimeoutSeconds = 30

/**
 * Parses an APIService, and checks only what the schema of the CRD cannot express.
 *
 * @param isReserved whether a group is served by Kapis or kube-apiserver
 */
export function parseComponent(object: KubeObject, isReserved: (group: string) => boolean): ParsedComponent {
  const { name } = object.metadata
  const spec = isRecord(object.spec) ? object.spec : {}
  const { group, version, caBundle, timeoutSeconds } = spec
  const wrong = (reason: string, message: string) => ({ name, reason, message })
  if (typeof group !== 'string' || typeof version !== 'string')
    return wrong('Invalid', 'spec.group and spec.version are required')
  if (isReserved(group))
    return wrong('GroupReserved', `the group ${group} is already served by Kapis or kube-apiserver`)
  const target = toTarget(spec)
  if (typeof target === 'string') return wrong('Invalid', target)
  return {
    name,
    group,
    version,
    ...target,
    caPem: typeof caBundle === 'string' ? Buffer.from(caBundle, 'base64').toString('utf8') : undefined,
    isVerified: spec.insecureSkipVerify !== true,
    timeoutMs: (typeof timeoutSeconds === 'number' ? timeoutSeconds : defaultTimeoutSeconds) * 1000,
  }
}

type Target = Pick<Component, 'url' | 'serverName'>

function toTarget({ url, service }: Readonly<Record<string, unknown>>): Target | string {
  if (typeof url === 'string' && service === undefined) {
    const parsed = URL.parse(url)
    if (parsed === null || !/^https?:$/.test(parsed.protocol)) return 'spec.url must be an http or https URL'
    if (parsed.username !== '' || parsed.search !== '' || parsed.hash !== '')
      return 'spec.url must not have a user, query or fragment'
    return { url: parsed, serverName: undefined }
  }
  if (url === undefined && isRecord(service)) {
    const { namespace, name, port = 443, path = '' } = service
    if (typeof namespace !== 'string' || typeof name !== 'string')
      return 'spec.service requires a namespace and a name'
    const host = `${name}.${namespace}.svc`
    return { url: new URL(`https://${host}:${Number(port)}${String(path)}`), serverName: host }
  }
  return 'exactly one of spec.url and spec.service is required'
}
