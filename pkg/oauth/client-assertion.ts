import { Status } from '../apierrors/status.ts'
import type { ClientConfig } from '../config/sections/client.ts'
import { InvalidAssertion, localKeys, readUnverified, verifyAssertion } from '../jwt/assertion.ts'
import { type KeySetFetch, remoteKeys } from '../jwt/remote-keys.ts'
import { endpointBase } from './server/endpoint-base.ts'
import { invalidRequest, oauthError } from './server/error.ts'
import type { Form } from './server/form.ts'
import { createUsedAssertions, type UsedAssertions } from './used-assertions.ts'

export type ClientAssertions = {
  /**
   * Returns why the assertion does not authenticate the client; undefined if it does.
   *
   * @throws Status 503 if it cannot be checked, 429 if the client has too many other valid
   * assertions
   */
  readonly problemOf: (client: ClientConfig, assertion: string) => Promise<string | undefined>
}

export type ClientAssertionOptions = {
  readonly issuer: string
  readonly clockSkewSeconds: number
  readonly fetch: KeySetFetch
  /**
   * Reviews a token for an audience, and returns the user name of its service account; undefined if
   * the token is invalid. @throws Status
   */
  readonly reviewServiceAccount: (token: string, audience: string) => Promise<string | undefined>
  readonly used?: UsedAssertions
}

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const keysWithinMs = 5_000
// A client signs an assertion for each request; assertions with a longer lifetime would have to be
// remembered for longer.
const maxLifeSeconds = 3_600
const maxJti = 256

/**
 * Returns the client assertion of a request (RFC 7521 section 4.2) and the client ID that it
 * claims.
 *
 * @returns undefined without an assertion
 * @throws Status invalid_request
 */
export function readAssertion(form: Form): { readonly token: string; readonly id: string } | undefined {
  const token = form.get('client_assertion')
  const type = form.get('client_assertion_type')
  if (token === undefined && type === undefined) return undefined
  if (type !== assertionType)
    throw invalidRequest(`the parameter client_assertion_type must be ${assertionType}`)
  if (token === undefined) throw invalidRequest('the parameter client_assertion is required')
  return { token, id: readUnverified(token)?.sub ?? '' }
}

/**
 * Checks client assertions. A JWT of the client (`private_key_jwt`, RFC 7523, OpenID Connect Core
 * section 9) is valid once for each replica. A token of a service account must have the issuer as
 * audience.
 */
export function createClientAssertions({
  issuer,
  clockSkewSeconds,
  fetch,
  reviewServiceAccount,
  used = createUsedAssertions(),
}: ClientAssertionOptions): ClientAssertions {
  const base = endpointBase(issuer)
  const audience = [
    issuer,
    ...['token', 'revoke', 'introspect', 'device_authorization'].map(path => `${base}/${path}`),
  ]
  const keys = new WeakMap<ClientConfig, ReturnType<typeof localKeys>>()

  function keysOf(client: ClientConfig) {
    const { jwks, jwksURI } = client
    const known = keys.get(client)
    if (known !== undefined) return known
    const made =
      jwks !== undefined
        ? localKeys(jwks.keys)
        : jwksURI === undefined
          ? undefined
          : remoteKeys(jwksURI, fetch, keysWithinMs)
    if (made !== undefined) keys.set(client, made)
    return made
  }

  async function problemOfSigned(client: ClientConfig, token: string): Promise<string | undefined> {
    const found = keysOf(client)
    if (found === undefined) return 'the client has no public keys'
    const rule = {
      ...{ issuer: client.name, audience, types: ['client-authentication+jwt'] },
      clockToleranceSeconds: clockSkewSeconds,
    }
    const { sub, exp, jti } = await verifyAssertion(token, found, rule)
    const nowSeconds = Date.now() / 1000
    if (sub !== client.name) return 'the claim sub must be the client_id'
    if (typeof jti !== 'string' || jti === '' || jti.length > maxJti)
      return `the claim jti must be a text of 1 to ${maxJti} characters`
    if (exp > nowSeconds + maxLifeSeconds + clockSkewSeconds)
      return `the claim exp must be at most ${maxLifeSeconds} seconds away`
    // jose rounds the current time down, so exp is rounded up.
    const untilMs = (Math.ceil(exp) + clockSkewSeconds) * 1000
    const use = used.use(client.name, jti, untilMs)
    if (use === 'full') throw tooManyAssertions()
    return use === 'new' ? undefined : 'the claim jti was used before'
  }

  async function problemOfServiceAccount(
    { serviceAccounts = [] }: ClientConfig,
    token: string,
  ): Promise<string | undefined> {
    if (serviceAccounts.length === 0) return 'the claim iss must be the client_id'
    const user = await reviewServiceAccount(token, issuer)
    if (user === undefined) return 'kube-apiserver rejected the token of the service account'
    const isOwn = serviceAccounts.some(name => user === `system:serviceaccount:${name.replace('/', ':')}`)
    return isOwn ? undefined : 'the service account is not one of the client'
  }

  return {
    async problemOf(client, token) {
      // The issuer of an assertion that a client signs itself is the client.
      if (readUnverified(token)?.iss !== client.name) return problemOfServiceAccount(client, token)
      try {
        return await problemOfSigned(client, token)
      } catch (error) {
        if (error instanceof InvalidAssertion) return error.message
        if (error instanceof Status) throw error
        throw oauthError(503, 'temporarily_unavailable', 'the keys of the client cannot be read', {
          headers: { 'retry-after': '5' },
          why: 'client_keys',
          cause: error,
        })
      }
    },
  }
}

function tooManyAssertions(): Status {
  const description =
    'too many assertions of the client are still valid; issue assertions with a shorter lifetime'
  return oauthError(429, 'invalid_client', description, {
    headers: { 'retry-after': '5' },
    why: 'too_many_assertions',
  })
}
