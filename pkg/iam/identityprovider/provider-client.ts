import type { ProviderConfig } from './config.ts'
import type { ProviderClient } from './external-identity.ts'
import { createGitHubProvider } from './git/github.ts'
import { createGitLabProvider } from './git/gitlab.ts'
import { createLdapProvider } from './ldap/ldap-provider.ts'
import { createOidcProvider } from './oidc/oidc-provider.ts'

/** Creates the client of a provider, which sends no request before the first login. */
export function createProviderClient(config: ProviderConfig): ProviderClient {
  switch (config.type) {
    case 'LDAPIdentityProvider':
      return createLdapProvider(config.provider)
    case 'OIDCIdentityProvider':
      return createOidcProvider(config.provider)
    case 'GitHubIdentityProvider':
      return createGitHubProvider(config.provider)
    case 'GitlabIdentityProvider':
      return createGitLabProvider(config.provider)
  }
}
