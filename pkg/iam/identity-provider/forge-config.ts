import { type Fields, texts } from '../../config/fields.ts'
import { type AppConfig, appKeys, readAppConfig } from './app-config.ts'

/** GitHub and GitLab. */
export type ForgeConfig = AppConfig & {
  /**
   * The organizations (GitHub) or groups (GitLab) that count. Only their members may log in, and only their names become
   * groups: on a public server anybody can found an organization called like a group of administrators.
   */
  readonly memberOf: readonly string[]
}

/** Reads `provider` of a GitHubIdentityProvider. */
export function readGitHubConfig(root: Fields): ForgeConfig {
  return readForgeConfig(root, 'organizations', organizations => ({
    scopes: organizations ? ['user:email', 'read:org'] : ['user:email'],
    endpoint: {
      authURL: 'https://github.com/login/oauth/authorize',
      tokenURL: 'https://github.com/login/oauth/access_token',
      userInfoURL: 'https://api.github.com/user',
    },
  }))
}

/** Reads `provider` of a GitlabIdentityProvider. */
export function readGitLabConfig(root: Fields): ForgeConfig {
  return readForgeConfig(root, 'groups', groups => ({
    scopes: groups ? ['read_user', 'read_api'] : ['read_user'],
    endpoint: {
      authURL: 'https://gitlab.com/oauth/authorize',
      tokenURL: 'https://gitlab.com/oauth/token',
      userInfoURL: 'https://gitlab.com/api/v4/user',
    },
  }))
}

function readForgeConfig(
  root: Fields,
  memberKey: string,
  defaults: (isMemberAsked: boolean) => Parameters<typeof readAppConfig>[1],
): ForgeConfig {
  const provider = root.object('provider', [...appKeys, memberKey])
  const memberOf = texts(provider, memberKey)
  const app = readAppConfig(provider, defaults(memberOf.length > 0))
  if (app.clientSecret === '') provider.problem('clientSecret', 'is required')
  return { ...app, memberOf }
}
