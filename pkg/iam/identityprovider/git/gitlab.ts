import { isRecord } from '../../../kubeclient/object/object.ts'
import type { Identity, RedirectProvider } from '../external-identity.ts'
import { loginError } from '../linking/login-error.ts'
import type { GitConfig } from './git-config.ts'
import { type Api, createGitProvider, isAccountId } from './git-provider.ts'

/** Creates a provider for GitLab. Accounts have a number; e-mail must be confirmed. */
export function createGitLabProvider(config: GitConfig): RedirectProvider {
  return createGitProvider(config, identify)
}

async function identify(api: Api, { endpoint, memberOf }: GitConfig): Promise<Identity> {
  const user = await api.read(endpoint.userInfoURL)
  if (!isRecord(user) || !isAccountId(user.id) || typeof user.username !== 'string')
    throw new Error('the user endpoint returned a response that is not a user')
  if (user.state !== undefined && user.state !== 'active')
    throw loginError('provider_refused', 'the account at the identity provider is not active')
  const isConfirmed = typeof user.confirmed_at === 'string' && user.confirmed_at !== ''
  const groups = endpoint.userInfoURL.replace(/\/user\/?$/, '/groups')
  return {
    uid: String(user.id),
    username: user.username,
    email: isConfirmed && typeof user.email === 'string' ? user.email : '',
    displayName: typeof user.name === 'string' ? user.name : '',
    groups: memberOf.length === 0 ? undefined : await findGroups(api, groups, memberOf),
  }
}

/** Returns the paths of configured groups and subgroups with the user as a guest or more. */
async function findGroups(api: Api, url: string, memberOf: readonly string[]): Promise<readonly string[]> {
  const counted = memberOf.map(path => path.toLowerCase())
  const groups = (await api.readAll(`${url}?min_access_level=10&per_page=100`)).filter(isRecord)
  return groups.flatMap(({ full_path: path }) => {
    if (typeof path !== 'string') return []
    const isCounted = counted.some(
      each => path.toLowerCase() === each || path.toLowerCase().startsWith(`${each}/`),
    )
    return isCounted ? [path] : []
  })
}
