import type { ProviderConfig } from './config.ts'
import { createGitHubProvider } from './github.ts'
import { createGitLabProvider } from './gitlab.ts'
import type { ProviderClient } from './identity.ts'
import { createLdapProvider } from './ldap.ts'
import { createOidcProvider } from './oidc.ts'

/** What speaks to a provider of the type that the configuration names. Nothing is asked of it before someone logs in. */
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
