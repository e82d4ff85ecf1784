import { isRecord } from '../../../kubeclient/object/object.ts'
import type { Identity, RedirectProvider } from '../external-identity.ts'
import type { GitConfig } from './git-config.ts'
import { type Api, createGitProvider, isAccountId } from './git-provider.ts'

/**
 * Creates a provider for GitHub. Accounts are identified by their number, since a login name can be
 * released and taken by someone else.
 */
export function createGitHubProvider(config: GitConfig): RedirectProvider {
  return createGitProvider(config, identify)
}

async function identify(api: Api, { endpoint, memberOf }: GitConfig): Promise<Identity> {
  const user = await api.read(endpoint.userInfoURL)
  if (!isRecord(user) || !isAccountId(user.id) || typeof user.login !== 'string')
    throw new Error('the user endpoint returned a response that is not a user')
  const emails = (await api.readAll(`${endpoint.userInfoURL}/emails?per_page=100`)).filter(isRecord)
  const verified = emails.filter(({ verified }) => verified === true)
  const { email } = verified.find(({ primary }) => primary === true) ?? verified[0] ?? {}
  return {
    uid: String(user.id),
    username: user.login,
    email: typeof email === 'string' ? email : '',
    displayName: typeof user.name === 'string' ? user.name : '',
    groups: memberOf.length === 0 ? undefined : await findGroups(api, endpoint.userInfoURL, memberOf),
  }
}

/** Returns organizations by name and teams as `organization:team`, in lower case. */
async function findGroups(api: Api, user: string, memberOf: readonly string[]): Promise<readonly string[]> {
  const counted = new Set(memberOf.map(name => name.toLowerCase()))
  const counts = (name: unknown): name is string =>
    typeof name === 'string' && counted.has(name.toLowerCase())
  const organizations = (await api.readAll(`${user}/orgs?per_page=100`)).filter(isRecord)
  const teams = (await api.readAll(`${user}/teams?per_page=100`)).filter(isRecord)
  return [
    ...organizations.map(({ login }) => login).filter(counts),
    ...teams.flatMap(({ slug, organization }) => {
      const owner = isRecord(organization) ? organization.login : undefined
      return counts(owner) && typeof slug === 'string' ? [`${owner}:${slug}`] : []
    }),
  ]
}
