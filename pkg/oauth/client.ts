import { createHash, timingSafeEqual } from 'node:crypto'
import type { ClientConfig } from '../config/config.ts'
import { oauthError } from './error.ts'
import type { Form } from './form.ts'

export type ClientRegistry = {
  readonly clients: readonly ClientConfig[]
  readonly secrets: ReadonlyMap<string, string>
}

/**
 * Who asks for a token (RFC 6749 section 2.3.1): by HTTP Basic or by form, not by both. A public client only names itself.
 * Any other Authorization scheme is left alone: consoles send their refresh token along as a bearer.
 *
 * @throws Status invalid_client, invalid_request
 */
export function authenticateClient(
  registry: ClientRegistry,
  form: Form,
  authorization: string | undefined,
): ClientConfig {
  const basic = parseBasic(authorization)
  if (basic && form.has('client_secret')) {
    throw oauthError(400, 'invalid_request', 'the client must authenticate in one way only')
  }
  const id = basic?.id ?? form.get('client_id') ?? ''
  const secret = basic?.secret ?? form.get('client_secret') ?? ''
  const fail = (description: string) =>
    oauthError(
      401,
      'invalid_client',
      description,
      basic ? { 'www-authenticate': 'Basic realm="kapis", charset="UTF-8"' } : {},
    )
  const client = registry.clients.find(({ name }) => name === id)
  if (client === undefined) throw fail('the OAuth client was not found')
  if (basic && form.has('client_id') && form.get('client_id') !== id) throw fail('invalid client credential')
  if (client.public) return client
  const expected = registry.secrets.get(client.name)
  if (expected === undefined || !isEqual(secret, expected)) throw fail('invalid client credential')
  return client
}

function parseBasic(authorization: string | undefined): { id: string; secret: string } | undefined {
  const match = /^basic +([A-Za-z0-9+/=]+)$/i.exec(authorization ?? '')
  if (!match) return undefined
  const text = Buffer.from(match[1] ?? '', 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 0) return { id: formDecode(text), secret: '' }
  return { id: formDecode(text.slice(0, colon)), secret: formDecode(text.slice(colon + 1)) }
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
