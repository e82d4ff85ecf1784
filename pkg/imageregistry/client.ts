import { badRequest, notFound, Status, unavailable } from '../apierrors/status.ts'
import { nextLink } from '../http/next-link.ts'
import { fieldsOf, itemsOf, textOf } from '../kubeclient/object/object.ts'
import type { Connect, HttpResponse } from './connect.ts'
import type { Login } from './docker-config.ts'
import type { ImageReference } from './reference.ts'

export type RegistryClient = {
  /** Verifies a login. @throws Status 400 for an invalid host, 401 if the login is rejected, 503 */
  readonly verify: (host: string, login: Login | undefined) => Promise<void>
  /** Reads the configuration of an image, or that of linux/amd64. @throws Status 401, 404, 503 */
  readonly config: (image: ImageReference, login: Login | undefined) => Promise<unknown>
  /** Returns all tags in the order of the registry. @throws Status 401, 404, 503 */
  readonly tags: (host: string, repository: string, login: Login | undefined) => Promise<readonly string[]>
}

const manifestTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
]
const maxRedirects = 3
const maxPages = 50

/** A read-only client of the OCI distribution-spec 1.1, with Docker token authentication. */
export function createRegistryClient(connect: Connect, signal: () => AbortSignal): RegistryClient {
  /** Sends a request, and repeats it with the credentials that a challenge requires. */
  async function get(url: URL, login: Login | undefined, accept: readonly string[]): Promise<HttpResponse> {
    const headers = { accept: accept.join(', ') || '*/*' }
    const first = await follow(url, headers)
    if (first.code !== 401) return first
    const authorization = await respondToChallenge(
      String(first.headers['www-authenticate'] ?? ''),
      url,
      login,
    )
    return authorization === undefined ? first : follow(url, { ...headers, authorization })
  }

  async function follow(url: URL, headers: Readonly<Record<string, string>>): Promise<HttpResponse> {
    let [at, sent] = [url, headers]
    for (let i = 0; ; i++) {
      const response = await connect(at, sent, signal())
      const { location } = response.headers
      if (response.code < 300 || response.code > 399 || typeof location !== 'string' || i >= maxRedirects)
        return response
      const next = URL.parse(location, at.href)
      if (next === null) throw unavailable(`the registry ${at.host} redirects to an invalid address`)
      // Blobs are often redirected to another server, which must not receive the login.
      const { authorization: _, ...rest } = { authorization: '', ...sent }
      ;[at, sent] = [next, next.host === at.host ? sent : rest]
    }
  }

  async function respondToChallenge(
    challenge: string,
    url: URL,
    login: Login | undefined,
  ): Promise<string | undefined> {
    const basic = login && `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`
    if (/^basic/i.test(challenge)) return basic
    const parameter = (name: string) => new RegExp(`${name}="([^"]*)"`, 'i').exec(challenge)?.[1]
    const realm = parameter('realm')
    if (!/^bearer/i.test(challenge) || realm === undefined) return undefined
    const from = URL.parse(realm, url.href)
    if (from === null)
      throw unavailable(`the registry ${url.host} returned an invalid URL of its token server`)
    for (const name of ['service', 'scope']) {
      const value = parameter(name)
      if (value !== undefined) from.searchParams.set(name, value)
    }
    const response = await connect(from, basic === undefined ? {} : { authorization: basic }, signal())
    if (response.code !== 200) return undefined
    const { token, access_token: accessToken } = fieldsOf(parse(response, from.host))
    return `Bearer ${textOf(token) || textOf(accessToken)}`
  }

  async function manifest(image: ImageReference, login: Login | undefined) {
    const url = new URL(`https://${image.host}/v2/${image.repository}/manifests/${image.reference}`)
    const response = expectOk(await get(url, login, manifestTypes), image)
    return fieldsOf(parse(response, image.host))
  }

  return {
    async verify(host, login) {
      const url = URL.parse(`https://${host}/v2/`)
      if (url === null)
        throw badRequest(`the Secret has a login for an invalid host: ${JSON.stringify(host)}`)
      const response = await get(url, login, [])
      if (response.code === 200) return
      if (response.code === 401 || response.code === 403) throw rejectedLogin(host)
      throw unavailable(`the registry ${host} responded with ${response.code}`)
    },

    async config(image, login) {
      let found = await manifest(image, login)
      const choices = itemsOf(found.manifests).map(fieldsOf)
      if (choices.length > 0) {
        const isUsual = ({ platform }: Readonly<Record<string, unknown>>) =>
          fieldsOf(platform).os === 'linux' && fieldsOf(platform).architecture === 'amd64'
        const { digest } = choices.find(isUsual) ?? choices[0] ?? {}
        found = await manifest({ ...image, reference: textOf(digest) }, login)
      }
      const digest = textOf(fieldsOf(found.config).digest)
      const url = new URL(`https://${image.host}/v2/${image.repository}/blobs/${digest}`)
      return parse(expectOk(await get(url, login, []), image), image.host)
    },

    async tags(host, repository, login) {
      const image = { host, repository, reference: '' }
      const tags: string[] = []
      let next: URL | undefined = new URL(`https://${host}/v2/${repository}/tags/list?n=1000`)
      for (let i = 0; next !== undefined && i < maxPages; i++) {
        const response: HttpResponse = expectOk(await get(next, login, []), image)
        tags.push(...itemsOf(fieldsOf(parse(response, host)).tags).map(textOf))
        const link: string | undefined = nextLink(String(response.headers.link ?? ''))
        const following: URL | null = link === undefined ? null : URL.parse(link, next.href)
        next = following?.host === host ? following : undefined
      }
      return tags
    },
  }
}

function expectOk(response: HttpResponse, { host, repository, reference }: ImageReference): HttpResponse {
  if (response.code === 200) return response
  if (response.code === 401 || response.code === 403) throw rejectedLogin(host)
  if (response.code === 404)
    throw notFound(
      { group: '', resource: 'images' },
      `${host}/${repository}${reference === '' ? '' : `:${reference}`}`,
    )
  throw unavailable(`the registry ${host} responded with ${response.code}`)
}

function rejectedLogin(host: string): Status {
  return new Status(401, 'Unauthorized', `the registry ${host} rejected the login`)
}

function parse({ body }: HttpResponse, host: string): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (error) {
    throw unavailable(`the registry ${host} returned a response that is not valid JSON`, error)
  }
}
