import { contextClasses } from '../../jwt/authentication-methods.ts'
import { publicKeyAlgorithms } from '../../jwt/remote-keys.ts'
import { supportedScopes } from '../tokens/scope.ts'
import { grants } from '../tokens/token-endpoint.ts'
import { endpointBase } from './endpoint-base.ts'

const proven = ['client_secret_basic', 'client_secret_post', 'private_key_jwt']

/** Builds the metadata of OIDC Discovery 1.0 section 3 and RFC 8414. */
export function toDiscovery(issuer: string): object {
  const base = endpointBase(issuer)
  return {
    issuer,
    authorization_endpoint: `${base}/authorize`,
    device_authorization_endpoint: `${base}/device_authorization`,
    token_endpoint: `${base}/token`,
    userinfo_endpoint: `${base}/userinfo`,
    revocation_endpoint: `${base}/revoke`,
    introspection_endpoint: `${base}/introspect`,
    end_session_endpoint: `${base}/logout`,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    jwks_uri: `${base}/keys`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    code_challenge_methods_supported: ['S256'],
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    authorization_response_iss_parameter_supported: true,
    request_parameter_supported: false,
    // Clients assume support without this member (OpenID Connect Discovery section 3).
    request_uri_parameter_supported: false,
    scopes_supported: supportedScopes,
    grant_types_supported: grants.map(({ grantType }) => grantType),
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'ES256'],
    ...authMethods('token', [...proven, 'none']),
    ...authMethods('revocation', [...proven, 'none']),
    ...authMethods('introspection', proven),
    acr_values_supported: contextClasses,
    claims_supported: [
      ...['iss', 'sub', 'aud', 'iat', 'exp', 'jti', 'sid', 'auth_time', 'nonce', 'at_hash', 'groups'],
      ...['amr', 'acr'],
      ...['name', 'email', 'email_verified', 'locale', 'preferred_username'],
    ],
  }
}

function authMethods(endpoint: string, methods: readonly string[]) {
  return {
    [`${endpoint}_endpoint_auth_methods_supported`]: methods,
    [`${endpoint}_endpoint_auth_signing_alg_values_supported`]: publicKeyAlgorithms,
  }
}
