import { type Fields, object, seconds, text } from '../../config/fields.ts'
import type { Problem } from '../../config/problem.ts'
import { groupProblem } from '../user-rules.ts'
import { type ForgeConfig, readGitHubConfig, readGitLabConfig } from './forge-config.ts'
import { type LdapConfig, readLdapConfig } from './ldap-config.ts'
import { type OidcConfig, readOidcConfig } from './oidc-config.ts'

/**
 * Who of the provider's people gets which user: `auto` makes one for whoever has none, `lookup` wants one that an
 * administrator has linked, `manual` wants the same and lets people link users of their own.
 */
export type MappingMethod = 'auto' | 'lookup' | 'manual'

/** One identity provider, as its Secret describes it (the keys of the 4.x platform). */
export type ProviderConfig = {
  readonly name: string
  /** What people read on a button. */
  readonly displayName: string
  /** It works, and has no button. */
  readonly hidden: boolean
  readonly disabled: boolean
  readonly mappingMethod: MappingMethod
  readonly disableLoginConfirmation: boolean
  /** Put before user names that are made, and before groups, so that none of them can be one of ours. */
  readonly usernamePrefix: string
  readonly groupsPrefix: string
  /** For how long groups are believed that the provider cannot be asked about without a login. */
  readonly groupsMaxAgeSeconds: number
} & (
  | { readonly type: 'LDAPIdentityProvider'; readonly provider: LdapConfig }
  | { readonly type: 'OIDCIdentityProvider'; readonly provider: OidcConfig }
  | { readonly type: 'GitHubIdentityProvider'; readonly provider: ForgeConfig }
  | { readonly type: 'GitlabIdentityProvider'; readonly provider: ForgeConfig }
)

const keys = [
  'name',
  'type',
  'displayName',
  'hidden',
  'disabled',
  'mappingMethod',
  'disableLoginConfirmation',
  'usernamePrefix',
  'groupsPrefix',
  'groupsMaxAge',
  'provider',
]
const types = [
  'LDAPIdentityProvider',
  'OIDCIdentityProvider',
  'GitHubIdentityProvider',
  'GitlabIdentityProvider',
] as const

// It stands in a URL, and in the name of an annotation behind 18 characters of ours (63 at most).
const providerName = /^[A-Za-z0-9]([-_.A-Za-z0-9]{0,43}[A-Za-z0-9])?$/

/**
 * Checks what a Secret says. Every mistake goes to `problems` with its path.
 *
 * @returns undefined when there is any
 */
export function readProviderConfig(document: unknown, problems: Problem[]): ProviderConfig | undefined {
  const root = object(document, '', problems, keys)
  const name = text(root, 'name', {
    pattern: providerName,
    is: 'letters, digits, - _ and . in between, 45 at most',
  })
  const common = {
    name,
    displayName: text(root, 'displayName', { default: name }),
    hidden: root.boolean('hidden', false),
    disabled: root.boolean('disabled', false),
    mappingMethod: root.choice('mappingMethod', ['auto', 'lookup', 'manual']),
    disableLoginConfirmation: root.boolean('disableLoginConfirmation', true),
    usernamePrefix: text(root, 'usernamePrefix', {
      default: '',
      pattern: /^([a-z0-9][-a-z0-9.]{0,62})?$/,
      is: 'lower-case letters, digits, - and .',
    }),
    groupsPrefix: text(root, 'groupsPrefix', { default: '' }),
    groupsMaxAgeSeconds: seconds(root, 'groupsMaxAge', { default: 86_400, min: 7_200, max: 2_592_000 }),
  }
  // A group has at least one character behind it, which takes white space off its end.
  const prefixProblem = common.groupsPrefix === '' ? undefined : groupProblem(`${common.groupsPrefix}x`)
  if (prefixProblem !== undefined) root.problem('groupsPrefix', prefixProblem)
  const type = types.find(known => known === root.value('type'))
  if (type === undefined) {
    root.problem('type', `must be one of ${types.join(', ')}`)
    return undefined
  }
  const config = { ...common, ...readByType(root, type) }
  return problems.length === 0 ? config : undefined
}

function readByType(root: Fields, type: (typeof types)[number]) {
  switch (type) {
    case 'LDAPIdentityProvider':
      return { type, provider: readLdapConfig(root) }
    case 'OIDCIdentityProvider':
      return { type, provider: readOidcConfig(root) }
    case 'GitHubIdentityProvider':
      return { type, provider: readGitHubConfig(root) }
    case 'GitlabIdentityProvider':
      return { type, provider: readGitLabConfig(root) }
  }
}
