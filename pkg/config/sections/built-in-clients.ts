import { type ClientConfig, usualGrantTypes } from './client.ts'

/** The default client of consoles and scripts. */
export const defaultClient: ClientConfig = {
  name: 'kapis',
  public: false,
  trusted: true,
  grantMethod: 'auto',
  redirectURIs: [],
  postLogoutRedirectURIs: [],
  allowedOrigins: [],
  scopeRestrictions: [],
  backchannelLogoutSessionRequired: false,
  grantTypes: usualGrantTypes,
  idTokenSigningAlg: 'RS256',
}

/**
 * The client of `kapis login`. It is public, since it runs on the machine of its user. Users are
 * asked for consent, since any program can use its client ID (RFC 8252 section 8.6).
 */
export const commandLineClient: ClientConfig = {
  ...defaultClient,
  name: 'kapis-cli',
  public: true,
  trusted: false,
  grantMethod: 'prompt',
  redirectURIs: ['http://127.0.0.1/callback'],
  grantTypes: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
}

/**
 * Returns the client of the log page: public, with one redirect URI on the host of the issuer.
 * Users are not asked for consent, since the page is part of the platform and its codes go nowhere
 * else.
 */
export function logPageClient(issuer: string): ClientConfig {
  return {
    ...defaultClient,
    name: 'kapis-logs',
    public: true,
    trusted: false,
    redirectURIs: [`${new URL(issuer).origin}/logs/callback`],
    grantTypes: ['authorization_code'],
  }
}
