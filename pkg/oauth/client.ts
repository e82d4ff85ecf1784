import { createHash, timingSafeEqual } from 'node:crypto'
import type { ClientConfig, RegisteredClient } from '../config/client.ts'
import type { Status } from '../status/status.ts'
import { oauthError } from './error.ts'
import type { Form } from './form.ts'

/** The clients there are at this moment: they come and go with their Secrets. */
export type ClientRegistry = {
  readonly find: (name: string) => RegisteredClient | undefined
  readonly all: () => Iterable<RegisteredClient>
}

type Credential = { readonly id: string; readonly secret: string | undefined; readonly isBasic: boolean }

/**
 * Who asks for a token (RFC 6749 section 2.3.1): by HTTP Basic or by form, not by both. A public client only names itself.
 * A bearer token has no part in this: consoles send their refresh token along as one.
 *
 * @throws Status invalid_client, invalid_request
 */
export function authenticateClient(
  registry: ClientRegistry,
  form: Form,
  authorization: string | undefined,
): ClientConfig {
  const { id, secret, isBasic } = readCredential(form, authorization)
  const registered = registry.find(id)
  if (registered === undefined)
    throw invalidClient('the OAuth client was not found', 'unknown_client', isBasic)
  const { client, secret: expected } = registered
  const isRight = client.public
    ? secret === undefined
    : expected !== undefined && isEqual(secret ?? '', expected)
  if (!isRight) throw invalidClient('invalid client credential', 'wrong_client_secret', isBasic)
  return client
}

function readCredential(form: Form, authorization: string | undefined): Credential {
  const formId = form.get('client_id')
  const formSecret = form.get('client_secret')
  if (!/^basic( |$)/i.test(authorization ?? '')) {
    return { id: formId ?? '', secret: formSecret, isBasic: false }
  }
  const basic = parseBasic(authorization ?? '')
  if (basic === undefined)
    throw invalidClient('the Basic credential cannot be read', 'broken_client_credential', true)
  if (formSecret !== undefined || (formId !== undefined && formId !== basic.id))
    throw oauthError(400, 'invalid_request', 'the client must authenticate in one way only')
  return { ...basic, isBasic: true }
}

/** RFC 6749 section 5.2: whoever came with an Authorization header is told which one would do. */
function invalidClient(description: string, why: string, isBasic: boolean): Status {
  const headers: Record<string, string> = isBasic
    ? { 'www-authenticate': 'Basic realm="kapis", charset="UTF-8"' }
    : {}
  return oauthError(401, 'invalid_client', description, { headers, why })
}

function parseBasic(authorization: string): { id: string; secret: string | undefined } | undefined {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1]
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 0) return undefined
  const secret = formDecode(text.slice(colon + 1))
  // A public client has no secret, and may say so with an empty one.
  return { id: formDecode(text.slice(0, colon)), secret: secret === '' ? undefined : secret }
}

/** Both halves are form-encoded before they are joined (RFC 6749 section 2.3.1); what is not is taken as it stands. */
function formDecode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** Compared by digest, so that neither content nor length shows in the time it takes. */
function isEqual(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
