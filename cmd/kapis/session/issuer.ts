import { isLoopback } from '../../../pkg/http/proxy-environment.ts'
import { type Connection, type HttpResponse, parseJson, toError } from './http.ts'

/** An OAuth client; the secret of a public client is ''. */
export type Client = { readonly id: string; readonly secret: string }

/** The issuer of the platform, as in its discovery document (RFC 8414). */
export type Issuer = {
  readonly identifier: string
  /** Whether authorization responses contain the issuer (RFC 9207). */
  readonly isNamedInResponses: boolean
  /** Returns the URL of an endpoint. @throws Error if the metadata does not contain it */
  readonly endpoint: (name: string) => URL
  /** Validates a URL that the user will open. @throws Error if it is on another origin */
  readonly page: (value: unknown) => URL
  /** Posts a form with the credential of the client to an endpoint. */
  readonly post: (
    endpoint: string,
    client: Client,
    form: Readonly<Record<string, string>>,
  ) => Promise<HttpResponse>
  /** Sends a GET with an access token to an endpoint. */
  readonly get: (endpoint: string, token: string) => Promise<HttpResponse>
}

const path = '/oauth'
const formType = 'application/x-www-form-urlencoded'

/**
 * Fetches the discovery document. Checks that it is of the requested issuer (RFC 8414 section 3.3),
 * and that its endpoints are on the same origin and use https.
 *
 * @param expected the issuer if its address differs, as with port forwarding; otherwise ''
 * @throws Error
 */
export async function discover(connection: Connection, expected = ''): Promise<Issuer> {
  const { url } = connection.server
  const response = await connection.send(`${path}/.well-known/openid-configuration`)
  if (response.status !== 200) throw toError(response, `read the issuer's metadata at ${url}`)
  const document = parseJson(response)
  const identifier = checkIssuer(document.issuer, expected === '' ? `${url}${path}` : expected, url)
  const { origin } = identifier
  const urls = Object.entries(document).filter(([name]) => name.endsWith('_endpoint') || name === 'jwks_uri')
  const endpoints = new Map(urls.map(([name, value]) => [name, checkUrl(name, value, origin)]))

  const endpoint = (name: string) => {
    const found = endpoints.get(`${name}_endpoint`)
    if (found === undefined) throw new Error(`the issuer has no ${name.replaceAll('_', ' ')} endpoint`)
    return found
  }
  // Requests go to the address of the server, since its certificate may not be valid for the host
  // of the issuer.
  const target = (name: string) => {
    const { pathname, search } = endpoint(name)
    return pathname + search
  }
  return {
    identifier: identifier.text,
    isNamedInResponses: document.authorization_response_iss_parameter_supported === true,
    endpoint,
    page: value => checkUrl('page', value, origin),
    post(name, { id, secret }, form) {
      const fields = { ...form, client_id: id, ...(secret === '' ? {} : { client_secret: secret }) }
      const body = String(new URLSearchParams(fields))
      return connection.send(target(name), { method: 'POST', headers: { 'content-type': formType }, body })
    },
    get: (name, token) => connection.send(target(name), { headers: { authorization: `Bearer ${token}` } }),
  }
}

function checkIssuer(value: unknown, expected: string, url: string): { text: string; origin: string } {
  const text = typeof value === 'string' ? value : ''
  const [found, expectedUrl] = [text, expected].map(each => (URL.canParse(each) ? new URL(each) : undefined))
  if (
    found === undefined ||
    expectedUrl === undefined ||
    withoutLoopbackName(found) !== withoutLoopbackName(expectedUrl)
  )
    throw new Error(
      `the issuer at ${url} is ${JSON.stringify(text)} and not ${expected}: ` +
        'use the address of the issuer as --server, or set --issuer if another address is expected',
    )
  return { text, origin: found.origin }
}

/** Returns the URL with one name for `localhost` and the loopback addresses. */
function withoutLoopbackName(url: URL): string {
  if (!isLoopback(url.hostname)) return url.href
  const copy = new URL(url)
  copy.hostname = 'localhost'
  return copy.href
}

/** @throws Error for a URL on another origin than the issuer, or without https unless on localhost */
function checkUrl(name: string, value: unknown, origin: string): URL {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))
  if (url === undefined || !isSafe || url.origin !== origin)
    throw new Error(
      `the issuer has an invalid ${name} ${JSON.stringify(value)}: expected a URL that begins with ${origin}/`,
    )
  return url
}
