import { badRequest } from '../apierrors/status.ts'
import { fieldsOf, isRecord, type KubeObject, textOf } from '../kubeclient/object/object.ts'

export type Login = { readonly username: string; readonly password: string }

const secretType = 'kubernetes.io/dockerconfigjson'
const secretKey = '.dockerconfigjson'

/**
 * Returns the logins of a Secret of type kubernetes.io/dockerconfigjson, by host.
 *
 * @throws Status 400 that names the invalid field without its content
 */
export function readDockerConfig(secret: KubeObject): ReadonlyMap<string, Login> {
  if (secret.type !== secretType) throw badRequest(`type of the Secret must be ${secretType}`)
  const text =
    textOf(fieldsOf(secret.stringData)[secretKey]) ||
    Buffer.from(textOf(fieldsOf(secret.data)[secretKey]), 'base64').toString('utf8')
  const { auths } = fieldsOf(parse(text))
  if (!isRecord(auths))
    throw badRequest(`data[${JSON.stringify(secretKey)}] of the Secret must have a field auths`)
  const logins = new Map<string, Login>()
  for (const [server, value] of Object.entries(auths))
    logins.set(toHost(server), readLogin(server, fieldsOf(value)))
  return logins
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest(`data[${JSON.stringify(secretKey)}] of the Secret is not valid JSON`)
  }
}

function readLogin(server: string, { username, password, auth }: Readonly<Record<string, unknown>>): Login {
  if (typeof username === 'string' && typeof password === 'string') return { username, password }
  const decoded = Buffer.from(textOf(auth), 'base64').toString('utf8')
  const colon = decoded.indexOf(':')
  if (colon <= 0) throw badRequest(`auths[${JSON.stringify(server)}] needs username and password, or auth`)
  return { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) }
}

/** Returns the host of a server, which may be a host or, as of Docker Hub, a URL. */
function toHost(server: string): string {
  const address = server.replace(/^https?:\/\//, '')
  const slash = address.indexOf('/')
  const host = slash < 0 ? address : address.slice(0, slash)
  return host === 'docker.io' || host === 'index.docker.io' ? 'registry-1.docker.io' : host
}
