import type { Problem } from '../../config/config-error.ts'
import {
  anything,
  boolean,
  choice,
  integer,
  optionalText,
  requiredChoice,
  requiredText,
  section,
  text,
} from '../../config/option.ts'
import { parseDocument } from '../../config/parse-document.ts'
import { fieldsOf } from '../../kubeclient/object/object.ts'
import { groupProblem } from '../users/user-validation.ts'
import { type GitConfig, gitHubProvider, gitLabProvider } from './git/git-config.ts'
import { type LdapConfig, ldapProvider } from './ldap/ldap-config.ts'
import { type OidcConfig, oidcProvider } from './oidc/oidc-config.ts'
import { providerTypes } from './provider-types.ts'
import { createIssueReporter } from './tls-config.ts'

/**
 * How accounts of the provider get a user. `auto` creates a user. `lookup` requires a user that an
 * administrator has linked. `manual` also lets users link themselves.
 */
export type MappingMethod = 'auto' | 'lookup' | 'manual'

/** The configuration of an identity provider in its Secret, with the keys of KubeSphere 4. */
export type ProviderConfig = {
  readonly name: string
  readonly displayName: string
  /** Whether the login page omits the button of this provider. */
  readonly hidden: boolean
  readonly disabled: boolean
  readonly mappingMethod: MappingMethod
  readonly disableLoginConfirmation: boolean
  /** Prefixes of names of new users and groups, so that they cannot collide with local ones. */
  readonly usernamePrefix: string
  readonly groupsPrefix: string
  /** How long groups remain valid if the provider can only be queried during a login. */
  readonly groupsMaxAgeSeconds: number
} & (
  | { readonly type: 'LDAPIdentityProvider'; readonly provider: LdapConfig }
  | { readonly type: 'OIDCIdentityProvider'; readonly provider: OidcConfig }
  | { readonly type: 'GitHubIdentityProvider'; readonly provider: GitConfig }
  | { readonly type: 'GitlabIdentityProvider'; readonly provider: GitConfig }
)

// The name is part of URLs, and with 18 others of an annotation name (63 characters at most).
const providerName = /^[A-Za-z0-9]([-_.A-Za-z0-9]{0,43}[A-Za-z0-9])?$/

const document = section({
  name: requiredText({
    pattern: providerName,
    is: 'at most 45 letters, digits, -, _ and ., beginning and ending with a letter or digit',
    description: 'Name of the provider in URLs and annotations.',
  }),
  type: requiredChoice({ of: providerTypes, description: 'Type of the provider.' }),
  displayName: optionalText({ description: 'Label of the login button; by default the name.' }),
  hidden: boolean({ default: false, description: 'Whether the login page shows no button for it.' }),
  disabled: boolean({
    default: false,
    description: 'Whether logins with the provider are disabled; existing logins end.',
  }),
  mappingMethod: choice({
    of: ['auto', 'lookup', 'manual'],
    default: 'auto',
    description: 'How accounts of the provider get a user: auto, lookup or manual.',
  }),
  disableLoginConfirmation: boolean({
    default: true,
    description: 'Whether users are created at the first login without a confirmation page.',
  }),
  usernamePrefix: text({
    default: '',
    pattern: /^([a-z0-9][-a-z0-9.]{0,62})?$/,
    is: 'lower-case letters, digits, - and .',
    description: 'Prefix of the names of new users.',
  }),
  groupsPrefix: text({ default: '', description: 'Prefix of groups.' }),
  groupsMaxAge: integer({
    ...{ default: 86_400, min: 7_200, max: 2_592_000 },
    description: 'How long groups are used without a new login, in seconds.',
  }),
  provider: anything({ description: 'Settings of the provider type.' }),
}).transform(({ groupsMaxAge: groupsMaxAgeSeconds, provider: _, ...fields }, { addIssue }) => {
  // The prefix is validated with one more character, as in real groups, so it may end in a space.
  const problem = fields.groupsPrefix === '' ? undefined : groupProblem(`${fields.groupsPrefix}x`)
  if (problem !== undefined) createIssueReporter(addIssue)('groupsPrefix', problem)
  return { ...fields, displayName: fields.displayName ?? fields.name, groupsMaxAgeSeconds }
})

/** Validates the content of a Secret. @returns undefined if there are `problems` */
export function readProviderConfig(input: unknown, problems: Problem[]): ProviderConfig | undefined {
  const common = parseDocument(document, input, problems)
  const members = fieldsOf(input)
  const type = providerTypes.find(known => known === members.type)
  const byType = type && readByType(type, members.provider ?? {}, problems)
  if (common === undefined || byType === undefined || problems.length > 0) return undefined
  return { ...common, ...byType }
}

function readByType(type: ProviderConfig['type'], input: unknown, problems: Problem[]) {
  switch (type) {
    case 'LDAPIdentityProvider':
      return withType(type, parseDocument(ldapProvider, input, problems, 'provider'))
    case 'OIDCIdentityProvider':
      return withType(type, parseDocument(oidcProvider, input, problems, 'provider'))
    case 'GitHubIdentityProvider':
      return withType(type, parseDocument(gitHubProvider, input, problems, 'provider'))
    case 'GitlabIdentityProvider':
      return withType(type, parseDocument(gitLabProvider, input, problems, 'provider'))
  }
}

function withType<const T extends string, P>(type: T, provider: P | undefined) {
  return provider && { type, provider }
}
