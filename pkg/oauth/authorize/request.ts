import type { ClientConfig } from '../../config/sections/client.ts'
import { maxReturnTo } from '../browser/return-to.ts'
import type { ClientRegistry } from '../client.ts'
import { invalidRequest, oauthError } from '../server/error.ts'
import type { Form } from '../server/form.ts'
import { grantScope } from '../tokens/scope.ts'
import { assertResources } from '../tokens/validate-resource-indicators.ts'
import { readChallenge } from './pkce.ts'
import { chooseRedirectUri } from './redirect-uri.ts'

/** The client and redirect URI of an authorization response. */
export type Target = {
  readonly client: ClientConfig
  readonly redirectUri: string
  /** The redirect_uri of the request; '' if the request has none. */
  readonly givenRedirectUri: string
  readonly state: string | undefined
}

/** The parameters of an authorization request (RFC 6749 section 4.1.1, OIDC Core 3.1.2.1). */
export type AuthorizeRequest = {
  readonly scope: string
  readonly isScopeAsked: boolean
  readonly nonce: string
  readonly challenge: string
  readonly prompts: ReadonlySet<string>
  readonly maxAgeSeconds: number | undefined
  readonly idTokenHint: string | undefined
  /** The authentication context classes that the client accepts (acr_values). */
  readonly acrValues: string | undefined
}

/**
 * Returns the client and the redirect URI. Before both are validated, no error may be sent to the
 * client (RFC 6749 section 4.1.2.1).
 *
 * @throws Status invalid_client, invalid_request
 */
export function findTarget(registry: ClientRegistry, params: Form): Target {
  const client = registry.find(params.get('client_id') ?? '')?.client
  if (client === undefined)
    throw oauthError(400, 'invalid_client', 'the OAuth client was not found', { why: 'unknown_client' })
  const requestedUri = params.get('redirect_uri')
  return {
    client,
    redirectUri: chooseRedirectUri(client, requestedUri),
    givenRedirectUri: requestedUri ?? '',
    state: readState(params),
  }
}

/** Returns the state; undefined if it is too long, which the error reports. */
function readState(params: Form): string | undefined {
  const state = params.get('state')
  return state === undefined || state.length > maxReturnTo ? undefined : state
}

const knownPrompts = new Set(['none', 'login', 'consent', 'select_account'])
// Limited, since the authorization code, which is part of a URL, contains the nonce.
const maxNonce = 512

/** @throws Status, to be sent to the client */
export function readAuthorizeRequest(params: Form, client: ClientConfig): AuthorizeRequest {
  const responseType = params.get('response_type')
  if (responseType === undefined) throw invalidRequest('the parameter response_type is required')
  if (responseType !== 'code')
    throw oauthError(400, 'unsupported_response_type', 'the parameter response_type must be code')
  if (!client.grantTypes.includes('authorization_code'))
    throw oauthError(400, 'unauthorized_client', 'the client may not use the authorization code grant')
  if (client.grantMethod === 'deny')
    throw oauthError(403, 'access_denied', 'logins are disabled for this client', { why: 'client_denied' })
  if (params.has('request')) throw oauthError(400, 'request_not_supported', '')
  if (params.has('request_uri')) throw oauthError(400, 'request_uri_not_supported', '')
  if ((params.get('response_mode') ?? 'query') !== 'query')
    throw invalidRequest('the parameter response_mode must be query')
  assertResources(params)
  const nonce = params.get('nonce') ?? ''
  if (nonce.length > maxNonce)
    throw invalidRequest(`the parameter nonce is longer than ${maxNonce} characters`)
  return {
    scope: grantScope(params.get('scope'), client),
    isScopeAsked: params.has('scope'),
    nonce,
    challenge: readChallenge(params, { isRequired: client.public }),
    prompts: readPrompts(params.get('prompt')),
    maxAgeSeconds: readMaxAge(params.get('max_age')),
    idTokenHint: params.get('id_token_hint'),
    acrValues: params.get('acr_values'),
  }
}

function readPrompts(text: string | undefined): ReadonlySet<string> {
  const prompts = new Set((text ?? '').split(' ').filter(prompt => prompt !== ''))
  for (const prompt of prompts) {
    if (!knownPrompts.has(prompt))
      throw invalidRequest(`the parameter prompt must be among ${[...knownPrompts].join(', ')}`)
  }
  if (prompts.has('none') && prompts.size > 1)
    throw invalidRequest('prompt=none cannot be combined with another prompt')
  return prompts
}

function readMaxAge(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,15}$/.test(text)) throw invalidRequest('the parameter max_age must be a number of seconds')
  return Number(text)
}
