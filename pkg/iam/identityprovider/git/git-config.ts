import { requiredText, secretLine, section, texts } from '../../../config/option.ts'
import { type AppConfig, appOptions, readAppConfig } from '../oauth-app-config.ts'
import { createIssueReporter } from '../tls-config.ts'

export type GitConfig = AppConfig & {
  /**
   * The organizations (GitHub) or groups (GitLab) whose members may log in. A user only gets these
   * groups: on a public server, anyone could create an organization named like a group of
   * administrators.
   */
  readonly memberOf: readonly string[]
}

export const gitHubProvider = section({
  ...appOptions,
  clientSecret: requiredText({
    ...secretLine,
    description: 'OAuth client secret of Kapis at the provider.',
  }),
  organizations: texts({
    description: 'Only members of these organizations may log in; memberships become groups.',
  }),
}).transform((section, { addIssue }): GitConfig => {
  const { organizations: memberOf } = section
  const defaults = {
    scopes: memberOf.length > 0 ? ['user:email', 'read:org'] : ['user:email'],
    endpoint: {
      authURL: 'https://github.com/login/oauth/authorize',
      tokenURL: 'https://github.com/login/oauth/access_token',
      userInfoURL: 'https://api.github.com/user',
    },
  }
  return { ...readAppConfig(section, defaults, createIssueReporter(addIssue)), memberOf }
})

export const gitLabProvider = section({
  ...appOptions,
  clientSecret: requiredText({
    ...secretLine,
    description: 'OAuth client secret of Kapis at the provider.',
  }),
  groups: texts({ description: 'Only members of these groups may log in; memberships become groups.' }),
}).transform((section, { addIssue }): GitConfig => {
  const { groups: memberOf } = section
  const defaults = {
    scopes: memberOf.length > 0 ? ['read_user', 'read_api'] : ['read_user'],
    endpoint: {
      authURL: 'https://gitlab.com/oauth/authorize',
      tokenURL: 'https://gitlab.com/oauth/token',
      userInfoURL: 'https://gitlab.com/api/v4/user',
    },
  }
  return { ...readAppConfig(section, defaults, createIssueReporter(addIssue)), memberOf }
})
