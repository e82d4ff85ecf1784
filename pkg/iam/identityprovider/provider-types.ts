/** Values of `type` in the configuration of an identity provider, as in KubeSphere 4. */
export const providerTypes = [
  'LDAPIdentityProvider',
  'OIDCIdentityProvider',
  'GitHubIdentityProvider',
  'GitlabIdentityProvider',
] as const
