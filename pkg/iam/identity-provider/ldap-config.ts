import { FilterParser } from 'ldapts'
import { type Fields, integer, text } from '../../config/fields.ts'
import { readTrust, type Trust, trustKeys } from './trust.ts'

/** How the connection is secured: TLS from the first byte, TLS after StartTLS (RFC 4511 section 4.14), or not at all. */
export type LdapSecurity = 'ldaps' | 'starttls' | 'none'

export type LdapConfig = {
  readonly host: string
  readonly port: number
  readonly security: LdapSecurity
  readonly trust: Trust
  /** For a whole login, however many questions it takes. */
  readonly timeoutMs: number
  /** Who searches; '' searches without a name. */
  readonly managerDn: string
  readonly managerPassword: string
  readonly userSearchBase: string
  /** In the syntax of RFC 4515; '' for none. */
  readonly userSearchFilter: string
  readonly loginAttribute: string
  readonly uidAttribute: string
  readonly mailAttribute: string
  readonly displayNameAttribute: string
  readonly groups: LdapGroups
}

export type LdapGroups = {
  /** Where entries of groups are; '' for nowhere. */
  readonly searchBase: string
  readonly searchFilter: string
  /** Of a group's entry: who is in it. */
  readonly memberAttribute: string
  /** Of a user's entry: what groups call him; '' for the entry's name. */
  readonly memberValueAttribute: string
  /** Of a group's entry: what it is called. */
  readonly nameAttribute: string
  /** Of a user's entry: the names of the groups' entries that he is in; '' for none. */
  readonly userMemberAttribute: string
}

const keys = [
  'host',
  'readTimeout',
  'startTLS',
  'ldaps',
  ...trustKeys,
  'managerDN',
  'managerPassword',
  'userSearchBase',
  'userSearchFilter',
  'loginAttribute',
  'uidAttribute',
  'mailAttribute',
  'displayNameAttribute',
  'groupSearchBase',
  'groupSearchFilter',
  'groupMemberAttribute',
  'groupMemberValueAttribute',
  'groupNameAttribute',
  'userMemberAttribute',
]

// RFC 4512 section 2.5: a name or a dotted number, with options.
const attributeName = /^([A-Za-z][-A-Za-z0-9]*|\d+(\.\d+)+)(;[-A-Za-z0-9]+)*$/
// kapis-apiserver gives up on an answer after 30 seconds.
const timeout = { default: 15_000, min: 100, max: 25_000 }

/** Reads `provider` of an LDAPIdentityProvider. */
export function readLdapConfig(root: Fields): LdapConfig {
  const provider = root.object('provider', keys)
  const { host, port, security } = readServer(provider)
  const managerDn = text(provider, 'managerDN', { default: '' })
  const managerPassword = text(provider, 'managerPassword', { default: '' })
  // A bind with a name and no password succeeds, and is nobody's (RFC 4513 section 5.1.2).
  if (managerDn !== '' && managerPassword === '')
    provider.problem('managerPassword', 'is required with managerDN')
  const loginAttribute = attribute(provider, 'loginAttribute', 'uid')
  return {
    host,
    port,
    security,
    trust: readTrust(provider),
    timeoutMs: integer(provider, 'readTimeout', timeout),
    managerDn,
    managerPassword,
    userSearchBase: text(provider, 'userSearchBase', {}),
    userSearchFilter: filter(provider, 'userSearchFilter'),
    loginAttribute,
    uidAttribute: attribute(provider, 'uidAttribute', loginAttribute),
    mailAttribute: attribute(provider, 'mailAttribute', 'mail'),
    displayNameAttribute: attribute(provider, 'displayNameAttribute', 'displayName'),
    groups: {
      searchBase: text(provider, 'groupSearchBase', { default: '' }),
      searchFilter: filter(provider, 'groupSearchFilter'),
      memberAttribute: attribute(provider, 'groupMemberAttribute', 'member'),
      memberValueAttribute: attribute(provider, 'groupMemberValueAttribute', ''),
      nameAttribute: attribute(provider, 'groupNameAttribute', 'cn'),
      userMemberAttribute: attribute(provider, 'userMemberAttribute', ''),
    },
  }
}

/** `host` is a name with a port, or a URL (RFC 4516) of nothing but these. */
function readServer(provider: Fields): Pick<LdapConfig, 'host' | 'port' | 'security'> {
  const given = text(provider, 'host', {})
  const [, scheme, name = '', digits] =
    /^(?:(ldaps?):\/\/)?(\[[0-9a-fA-F:.]+\]|[-\w.]+)(?::(\d{1,5}))?\/?$/.exec(given) ?? []
  if (given !== '' && name === '')
    provider.problem('host', 'must be host:port, or an ldaps:// or ldap:// URL')
  const isStartTls = provider.boolean('startTLS', false)
  const isLdaps = provider.boolean('ldaps', false) || scheme === 'ldaps'
  const port = Number(digits ?? (isLdaps ? 636 : 389))
  if (port === 0 || port > 65_535) provider.problem('host', 'must have a port from 1 to 65535')
  if (isStartTls && isLdaps) provider.problem('startTLS', 'must not be true with LDAPS: it is TLS already')
  else if (isStartTls && port === 636) {
    provider.problem('startTLS', 'does not go with port 636, which speaks LDAPS: set ldaps: true instead')
  }
  const security = isLdaps ? 'ldaps' : isStartTls ? 'starttls' : 'none'
  return { host: name.replace(/^\[(.*)\]$/, '$1'), port, security }
}

function attribute(provider: Fields, key: string, fallback: string): string {
  const given = text(provider, key, { default: fallback })
  if (given !== '' && !attributeName.test(given)) provider.problem(key, 'must be the name of an attribute')
  return given === '' ? fallback : given
}

function filter(provider: Fields, key: string): string {
  const given = text(provider, key, { default: '' }).trim()
  if (given === '') return ''
  const whole = given.startsWith('(') ? given : `(${given})`
  try {
    FilterParser.parseString(whole)
  } catch {
    provider.problem(key, 'must be a search filter such as (objectClass=person)')
  }
  return whole
}
