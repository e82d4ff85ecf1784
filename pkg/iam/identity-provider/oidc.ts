import {
  allowInsecureRequests,
  type Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  type ServerMetadata,
} from 'openid-client'
import { exchangeCode, toAuthorizationUrl, toClient, toCustomFetch, toProviderError } from './code-flow.ts'
import { within } from './deadline.ts'
import type { Identity, RedirectProvider, Transaction, UpstreamLogout } from './identity.ts'
import type { OidcConfig } from './oidc-config.ts'
import { createUpstreamFetch } from './upstream-fetch.ts'

type Claims = Readonly<Record<string, unknown>>

// What the provider says of itself may change: a new address, another algorithm.
const discoveredForMs = 600_000

/**
 * An OpenID provider. It is asked for its metadata when somebody logs in, and again when it did not answer: a provider
 * that is down keeps nothing of ours from starting. Signatures of ID tokens are always verified, though they come over
 * TLS: whoever can answer for the token endpoint must still not be able to name people.
 */
export function createOidcProvider(config: OidcConfig): RedirectProvider {
  const fetch = createUpstreamFetch(config.trust)
  let known: { readonly client: Configuration; readonly atMs: number } | undefined

  async function find(): Promise<Configuration> {
    if (known !== undefined && performance.now() - known.atMs < discoveredForMs) return known.client
    const client = toClient(await readMetadata(), config, fetch)
    enableNonRepudiationChecks(client)
    known = { client, atMs: performance.now() }
    return client
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
    const client = await find()
    const tokens = await exchangeCode(client, callback, transaction, true)
    const claims = tokens.claims()
    if (claims === undefined) throw new Error('the token answer has no ID token')
    const more = config.getUserInfo ? await fetchUserInfo(client, tokens.access_token, claims.sub) : {}
    const idToken = config.endpoint.endSessionURL === '' ? undefined : tokens.id_token
    const identity = toIdentity(config, { ...claims, ...more }, claims.sub)
    return idToken === undefined ? identity : { ...identity, idToken }
  }

  return {
    kind: 'redirect',
    redirectUrl: config.redirectUrl,
    logoutUrl: config.endpoint.endSessionURL === '' ? undefined : logout => toLogoutUrl(config, logout),
    async begin(transaction, signal, prompt) {
      try {
        return await within(config.timeoutMs, signal, async () =>
          toAuthorizationUrl(await find(), transaction, config.scopes, prompt),
        )
      } catch (error) {
        throw toProviderError(error)
      }
    },
    async finish(callback, transaction, signal) {
      try {
        return await within(config.timeoutMs, signal, () => identify(callback, transaction))
      } catch (error) {
        throw toProviderError(error)
      }
    },
  }
}

/**
 * Only where the configuration names it: a provider that could be asked may serve much more than Kapis, and whoever logs out
 * here need not want to be logged out everywhere.
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

function toIdentity(config: OidcConfig, claims: Claims, sub: string): Identity {
  const text = (key: string) => {
    const value = claims[key]
    return typeof value === 'string' ? value : ''
  }
  const { emailKey, preferredUsernameKey, groupsKey } = config
  // Some providers write their booleans as text.
  const isUnverified = emailKey === 'email' && String(claims.email_verified) === 'false'
  return {
    uid: sub,
    username:
      preferredUsernameKey === '' ? text('preferred_username') || text('name') : text(preferredUsernameKey),
    email: isUnverified ? '' : text(emailKey),
    displayName: text('name'),
    groups:
      groupsKey === ''
        ? undefined
        : [claims[groupsKey] ?? []].flat().filter(each => typeof each === 'string'),
  }
}
