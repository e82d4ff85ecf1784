import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Status } from '../apierrors/status.ts'
import { basicChallenge, isBasic, readBasic } from '../authn/basic-credential.ts'
import type { ClientConfig, RegisteredClient } from '../config/sections/client.ts'
import { sourceNetwork } from '../httpserver/request/client-address.ts'
import { createLockout, secondsUntil } from '../iam/lockout/lockout.ts'
import { type ClientAssertions, readAssertion } from './client-assertion.ts'
import { clientInfoOf } from './server/client-info.ts'
import { invalidRequest, oauthError } from './server/error.ts'
import type { Form } from './server/form.ts'

/** Returns the current clients, which change with their Secrets. */
export type ClientRegistry = {
  readonly find: (name: string) => RegisteredClient | undefined
  readonly all: () => Iterable<RegisteredClient>
}

type Credential = {
  readonly id: string
  /** The possible readings of the given secret; empty without a secret. */
  readonly secrets: readonly string[]
  readonly assertion?: string
  readonly byBasic: boolean
}

/** @throws Status invalid_client, or 429 with Retry-After; invalid_request; 503 */
export type AuthenticateClient = (req: IncomingMessage, form: Form) => Promise<ClientConfig>

// Tries per client and address. An operator notices a changed secret earlier, and guessing a secret
// at this rate is hopeless.
const guesses = { maxTries: 30, durationSeconds: 60 }

/**
 * Authenticates the client of a token request, by exactly one method: a secret (RFC 6749 section
 * 2.3.1) in HTTP Basic or the form, or a signed assertion (RFC 7523). A public client only sends
 * its client_id. Bearer tokens are ignored, since consoles send their refresh token as one.
 * Failures are counted per client and address, so that an attacker only locks out their own
 * address. Each replica counts separately.
 */
export function createClientAuthentication(
  registry: ClientRegistry,
  assertions: ClientAssertions,
): AuthenticateClient {
  const lockout = createLockout({ rules: { user: guesses, address: guesses } })
  return async (req, form) => {
    const [authorization, ...more] = req.headersDistinct.authorization ?? []
    // With two Authorization headers, proxies and servers might use different ones.
    if (more.length > 0) throw invalidRequest('the header Authorization is given more than once')
    const { id, secrets, assertion, byBasic } = readCredential(form, authorization)
    const registered = registry.find(id)
    if (registered === undefined)
      throw invalidClient('the OAuth client was not found', 'unknown_client', byBasic)
    const key = `address:${sourceNetwork(clientInfoOf(req).address)} ${id}` as const
    const lockedUntilMs = lockout.lockedUntilMs(key)
    if (lockedUntilMs !== undefined) throw tooManyGuesses(lockedUntilMs)
    const { client } = registered
    if (assertion === undefined) {
      if (isRight(registered, secrets)) return client
      lockout.note([key], Date.now())
      throw invalidClient('invalid client credential', 'wrong_client_secret', byBasic)
    }
    const problem = await assertions.problemOf(client, assertion)
    if (problem === undefined) return client
    lockout.note([key], Date.now())
    throw invalidClient(`invalid client assertion: ${problem}`, 'wrong_client_assertion', byBasic)
  }
}

function isRight({ client, secret: expected }: RegisteredClient, secrets: readonly string[]): boolean {
  if (client.public) return secrets.length === 0
  return expected !== undefined && secrets.some(secret => isEqual(secret, expected))
}

function tooManyGuesses(untilMs: number): Status {
  const description = 'too many wrong client secrets from this address'
  return oauthError(429, 'invalid_client', description, {
    headers: { 'retry-after': String(secondsUntil(untilMs)) },
    why: 'client_locked',
  })
}

function readCredential(form: Form, authorization = ''): Credential {
  const formId = form.get('client_id')
  const formSecret = form.get('client_secret')
  const assertion = readAssertion(form)
  if (assertion !== undefined) {
    if (formSecret !== undefined || isBasic(authorization)) throw tooManyMethods()
    return { id: formId ?? assertion.id, secrets: [], assertion: assertion.token, byBasic: false }
  }
  const secrets = formSecret === undefined ? [] : [formSecret]
  if (!isBasic(authorization)) return { id: formId ?? '', secrets, byBasic: false }
  const basic = parseBasic(authorization)
  if (basic === undefined) throw invalidClient('invalid Basic credential', 'broken_client_credential', true)
  if (formSecret !== undefined || (formId !== undefined && formId !== basic.id)) throw tooManyMethods()
  return { ...basic, byBasic: true }
}

function tooManyMethods(): Status {
  return invalidRequest('the client must use only one authentication method')
}

/**
 * Returns the error for a failed client authentication. A client that sent an Authorization header
 * gets a challenge with its scheme (RFC 6749 section 5.2).
 */
function invalidClient(description: string, why: string, byBasic: boolean): Status {
  const headers: Record<string, string> = byBasic ? { 'www-authenticate': basicChallenge } : {}
  return oauthError(401, 'invalid_client', description, { headers, why })
}

/**
 * Parses HTTP Basic. A secret is also accepted as it was sent: many clients (curl, Authlib,
 * Requests) do not form-encode it, and one in Base64 often contains a plus sign.
 */
function parseBasic(authorization: string): Pick<Credential, 'id' | 'secrets'> | undefined {
  const credential = readBasic(authorization)
  if (credential === undefined) return undefined
  const { id, secret } = credential
  // A public client may send an empty secret.
  return { id: formDecode(id), secrets: secret === '' ? [] : [formDecode(secret), secret] }
}

/**
 * Decodes one part of HTTP Basic credentials, which clients form-encode (RFC 6749 section 2.3.1).
 * Text with invalid encoding is returned unchanged.
 */
function formDecode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** Compares digests, so that the duration reveals neither content nor length. */
function isEqual(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
