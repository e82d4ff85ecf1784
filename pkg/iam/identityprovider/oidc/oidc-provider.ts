import {
  allowInsecureRequests,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  type ServerMetadata,
} from 'openid-client'
import { createSharedResult } from '../../../cache/shared-result.ts'
import { createIdTokenVerifier, InvalidIdToken } from '../../../jwt/provider-id-token.ts'
import { isRecord } from '../../../kubeclient/object/object.ts'
import {
  clockToleranceSeconds,
  exchangeCode,
  toAuthorizationUrl,
  toClient,
  toCustomFetch,
  toProviderError,
} from '../code-flow.ts'
import type { Identity, RedirectProvider, Transaction, UpstreamLogout } from '../external-identity.ts'
import { createUpstreamFetch, type UpstreamFetch } from '../upstream-fetch.ts'
import { withDeadline } from '../with-deadline.ts'
import type { OidcConfig } from './oidc-config.ts'
import { toIdentity, toMethods } from './oidc-identity.ts'

type DiscoveredIssuer = {
  readonly server: ServerMetadata
  readonly verify: ReturnType<typeof createIdTokenVerifier>
}

// Metadata is fetched again after this time, since it may change.
const discoveredForMs = 600_000
// Anyone can start a login, so failed requests are not repeated during this time.
const failedForMs = 1_000

/**
 * Creates an OpenID provider. Its metadata is fetched at the first login, so that an unavailable
 * provider does not delay startup. Concurrent logins share the request; after a failure the next
 * request follows a second later. Signatures of ID tokens are verified despite TLS: otherwise an
 * attacker who impersonates the token endpoint could log in as any user.
 *
 * @param now a monotonic clock
 */
export function createOidcProvider(
  config: OidcConfig,
  now: () => number = () => performance.now(),
): RedirectProvider {
  const fetch = createUpstreamFetch(config.trust)
  const find = createSharedResult(discover, { keepMs: discoveredForMs, failedForMs, now })

  async function discover(): Promise<DiscoveredIssuer> {
    const server = await readMetadata()
    return { server, verify: createVerifier(config, server, fetch) }
  }

  async function readMetadata(): Promise<ServerMetadata> {
    const { authURL, tokenURL, userInfoURL, jwksURL } = config.endpoint
    const given = {
      ...(authURL === '' ? {} : { authorization_endpoint: authURL }),
      ...(tokenURL === '' ? {} : { token_endpoint: tokenURL }),
      ...(userInfoURL === '' ? {} : { userinfo_endpoint: userInfoURL }),
      ...(jwksURL === '' ? {} : { jwks_uri: jwksURL }),
    }
    if (authURL !== '' && tokenURL !== '' && jwksURL !== '') return { issuer: config.issuer, ...given }
    const found = await discovery(new URL(config.issuer), config.clientId, undefined, undefined, {
      [customFetch]: toCustomFetch(fetch),
      timeout: config.timeoutMs / 1000,
      execute: config.trust.isVerified ? [] : [allowInsecureRequests],
    })
    const { supportsPKCE: _, ...metadata } = found.serverMetadata()
    return { ...metadata, ...given }
  }

  async function identify(callback: URL, transaction: Transaction): Promise<Identity> {
    const { server, verify } = await find()
    let idToken: unknown
    const client = toClient(
      server,
      config,
      withoutIdToken(fetch, server.token_endpoint, token => {
        idToken = token
      }),
    )
    enableNonRepudiationChecks(client)
    const { access_token } = await exchangeCode(client, callback, transaction)
    if (typeof idToken !== 'string') throw new InvalidIdToken('the token response has no id_token')
    const claims = await verify(idToken, transaction.nonce)
    const more = config.getUserInfo ? await fetchUserInfo(client, access_token, claims.sub) : {}
    const identity = { ...toIdentity(config, { ...claims, ...more }, claims.sub), amr: toMethods(claims.amr) }
    return config.endpoint.endSessionURL === '' ? identity : { ...identity, idToken }
  }

  return {
    kind: 'redirect',
    redirectUrl: config.redirectUrl,
    logoutUrl: config.endpoint.endSessionURL === '' ? undefined : logout => toLogoutUrl(config, logout),
    async begin(transaction, signal, prompt) {
      try {
        return await withDeadline(config.timeoutMs, signal, async () => {
          const client = toClient((await find()).server, config, fetch)
          return toAuthorizationUrl(client, transaction, config.scopes, prompt)
        })
      } catch (error) {
        throw toProviderError(error)
      }
    },
    async finish(callback, transaction, signal) {
      try {
        return await withDeadline(config.timeoutMs, signal, () => identify(callback, transaction))
      } catch (error) {
        throw toProviderError(error)
      }
    },
  }
}

/**
 * Returns the logout URL, only if an endpoint is configured: users who log out of Kapis may not
 * want to be logged out of other applications of the provider.
 */
function toLogoutUrl({ clientId, endpoint }: OidcConfig, { returnUri, state, idToken }: UpstreamLogout): URL {
  const url = new URL(endpoint.endSessionURL)
  const parameters = {
    client_id: clientId,
    post_logout_redirect_uri: returnUri,
    state,
    id_token_hint: idToken,
  }
  for (const [name, value] of Object.entries(parameters)) if (value !== '') url.searchParams.set(name, value)
  return url
}

function createVerifier(
  { issuer, clientId, timeoutMs, trust, idTokenSignedResponseAlg: registered }: OidcConfig,
  { jwks_uri: jwksUri, id_token_signing_alg_values_supported: named }: ServerMetadata,
  fetch: UpstreamFetch,
): DiscoveredIssuer['verify'] {
  const isAllowed = jwksUri?.startsWith('https:') || !trust.isVerified
  if (jwksUri === undefined || !isAllowed)
    throw new Error('the metadata of the provider has no jwks_uri with https')
  const algorithms = registered === '' ? named : [registered]
  return createIdTokenVerifier({
    ...{ issuer, clientId, jwksUri, algorithms, timeoutMs, clockToleranceSeconds, fetch },
  })
}

/**
 * Removes the ID token from the token response. openid-client would reject an `auth_time` that is a
 * string (AD FS), even if it was not requested.
 */
function withoutIdToken(
  fetch: UpstreamFetch,
  tokenEndpoint: string | undefined,
  found: (idToken: unknown) => void,
): UpstreamFetch {
  return async (url, init) => {
    const response = await fetch(url, init)
    if (url !== tokenEndpoint || !response.ok) return response
    const body: unknown = await response
      .clone()
      .json()
      .catch(() => undefined)
    if (!isRecord(body)) return response
    const { id_token: idToken, ...rest } = body
    found(idToken)
    return Response.json(rest, response)
  }
}
