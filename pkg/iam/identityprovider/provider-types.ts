/** The `type` of identity providers, as in KubeSphere 4. */
export const providerTypes = [
  'LDAPIdentityProvider',
  'OIDCIdentityProvider',
  'GitHubIdentityProvider',
  'GitlabIdentityProvider',
] as const
