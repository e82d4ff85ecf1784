import { boolean, optionalChoice, requiredText, section, text } from '../../../config/option.ts'
import { publicKeyAlgorithms } from '../../../jwt/remote-keys.ts'
import { type AppConfig, appOptions, readAppConfig, url } from '../oauth-app-config.ts'
import { createIssueReporter } from '../tls-config.ts'

export type OidcConfig = AppConfig & {
  readonly issuer: string
  /** Whether to read userinfo too: some providers put few claims into the ID token. */
  readonly getUserInfo: boolean
  readonly emailKey: string
  readonly preferredUsernameKey: string
  /** Path of the claim with the groups; '' for none. */
  readonly groupsKey: string
  /** The algorithm of ID tokens; '' for those of the metadata, or RS256 without any. */
  readonly idTokenSignedResponseAlg: string
}

/** The section `provider` of an OIDCIdentityProvider. ID tokens must be from its issuer. */
export const oidcProvider = section({
  ...appOptions,
  issuer: requiredText({ description: 'The `iss` claim of ID tokens of the provider.' }),
  getUserInfo: boolean({
    default: false,
    description: 'Whether claims are read from the userinfo endpoint too.',
  }),
  emailKey: text({ default: 'email', description: 'The claim with the e-mail address.' }),
  preferredUsernameKey: text({ default: '', description: 'The claim with the user name.' }),
  groupsKey: text({ default: '', description: 'The claim with the groups.' }),
  idTokenSignedResponseAlg: optionalChoice({
    of: publicKeyAlgorithms,
    description: 'Signature algorithm that the client is registered with at the provider.',
  }),
}).transform((section, { addIssue }): OidcConfig => {
  const reportIssue = createIssueReporter(addIssue)
  const app = readAppConfig(section, { scopes: ['openid', 'profile', 'email'], endpoint: {} }, reportIssue)
  const { getUserInfo, emailKey, preferredUsernameKey, groupsKey, idTokenSignedResponseAlg = '' } = section
  return {
    ...app,
    // Always requested, since providers only issue ID tokens for this scope.
    scopes: [...new Set(['openid', ...app.scopes])],
    issuer: url(section.issuer, 'issuer', reportIssue, app.trust),
    ...{ getUserInfo, emailKey, preferredUsernameKey, groupsKey, idTokenSignedResponseAlg },
  }
})
