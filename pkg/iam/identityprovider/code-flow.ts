import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  calculatePKCECodeChallenge,
  clockTolerance,
  customFetch,
  None,
  ResponseBodyError,
  type ServerMetadata,
} from 'openid-client'
import { Status } from '../../apierrors/status.ts'
import { InvalidIdToken } from '../../jwt/provider-id-token.ts'
import type { Transaction, UpstreamPrompt } from './external-identity.ts'
import { loginError, providerFailed } from './linking/login-error.ts'
import type { AppConfig } from './oauth-app-config.ts'
import type { UpstreamFetch } from './upstream-fetch.ts'

export const clockToleranceSeconds = 10

/** Returns the configuration of openid-client for the provider, with Kapis as the client. */
export function toClient(server: ServerMetadata, app: AppConfig, fetch: UpstreamFetch): Configuration {
  const metadata = { [clockTolerance]: clockToleranceSeconds }
  const client = new Configuration(server, app.clientId, metadata, toClientAuth(server, app.clientSecret))
  client[customFetch] = toCustomFetch(fetch)
  client.timeout = app.timeoutMs / 1000
  // http URLs are only allowed if the configuration disables verification.
  if (!app.trust.isVerified) allowInsecureRequests(client)
  return client
}

export function toCustomFetch(fetch: UpstreamFetch): NonNullable<Configuration[typeof customFetch]> {
  return (url, { method, headers, body, signal }) =>
    fetch(url, { method, headers, ...(body == null ? {} : { body: String(body) }), signal })
}

/**
 * Returns the authentication method at the token endpoint: HTTP Basic, which every server must
 * support (RFC 6749 section 2.3.1), unless the metadata excludes it.
 */
function toClientAuth(server: ServerMetadata, secret: string): ClientAuth {
  if (secret === '') return None()
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  return methods.includes('client_secret_basic') ? ClientSecretBasic(secret) : ClientSecretPost(secret)
}

/** Builds the authorization request: code with state, PKCE and, if supported, nonce. */
export async function toAuthorizationUrl(
  client: Configuration,
  { state, nonce, codeVerifier, redirectUri }: Transaction,
  scopes: readonly string[],
  prompt?: UpstreamPrompt,
): Promise<URL> {
  return buildAuthorizationUrl(client, {
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state,
    code_challenge: await calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
    ...(scopes.includes('openid') ? { nonce } : {}),
    ...(prompt === undefined ? {} : { prompt }),
  })
}

/** Checks the state of the transaction, then redeems the code. */
export function exchangeCode(
  client: Configuration,
  callback: URL,
  transaction: Transaction,
): ReturnType<typeof authorizationCodeGrant> {
  // The provider compares with the redirect URI of the authorization request; the URL of this
  // request may differ behind a proxy.
  const url = new URL(transaction.redirectUri)
  url.search = callback.search
  return authorizationCodeGrant(client, url, {
    expectedState: transaction.state,
    pkceCodeVerifier: transaction.codeVerifier,
  })
}

// Codes of oauth4webapi for an invalid response. Other errors mean that there was no response.
const untrusted: ReadonlySet<string> = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_JWT_USERINFO_EXPECTED',
  'OAUTH_KEY_SELECTION_FAILED',
  'OAUTH_UNSUPPORTED_OPERATION',
])

/** Converts an error of a login at a provider: a rejection, an invalid response, or no response. */
export function toProviderError(error: unknown): Status {
  if (error instanceof Status) return error
  if (error instanceof AuthorizationResponseError)
    return loginError(
      'provider_refused',
      `the identity provider rejected the login${printableCode(error.error)}`,
      error,
    )
  if (error instanceof ResponseBodyError) {
    // Any other error is a problem of the configuration, which the user cannot solve.
    if (error.error !== 'invalid_grant') return providerFailed(error)
    return loginError(
      'provider_refused',
      'the response of the identity provider was used before, or came too late',
      error,
    )
  }
  const isUntrusted = error instanceof ClientError && untrusted.has(error.code ?? '')
  if (isUntrusted || error instanceof InvalidIdToken)
    return loginError('provider_answer_invalid', 'the response of the identity provider is not valid', error)
  return providerFailed(error)
}

function printableCode(code: string): string {
  return /^[a-z_]{1,40}$/.test(code) ? ` (${code})` : ''
}
