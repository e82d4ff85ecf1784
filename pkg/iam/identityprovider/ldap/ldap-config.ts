import { FilterParser } from 'ldapts'
import { boolean, integer, requiredText, secretLine, section, text } from '../../../config/option.ts'
import { createIssueReporter, type ReportIssue, readTrust, type Trust, trustOptions } from '../tls-config.ts'

/** How the connection is secured: LDAPS, StartTLS (RFC 4511 section 4.14), or not at all. */
export type LdapSecurity = 'ldaps' | 'starttls' | 'none'

export type LdapConfig = {
  readonly host: string
  readonly port: number
  readonly security: LdapSecurity
  readonly trust: Trust
  /** Timeout of a whole login, including all its requests. */
  readonly timeoutMs: number
  /** DN to bind as before searches; '' for anonymous searches. */
  readonly managerDn: string
  readonly managerPassword: string
  readonly userSearchBase: string
  /** Additional filter in the syntax of RFC 4515; '' for none. */
  readonly userSearchFilter: string
  readonly loginAttribute: string
  readonly uidAttribute: string
  readonly mailAttribute: string
  readonly displayNameAttribute: string
  readonly groups: LdapGroups
}

export type LdapGroups = {
  /** Base DN of groups; '' for none. */
  readonly searchBase: string
  readonly searchFilter: string
  /** Attribute of a group that lists its members. */
  readonly memberAttribute: string
  /** Attribute of a user whose value group entries list as a member; '' for the DN. */
  readonly memberValueAttribute: string
  /** Attribute with the name of a group. */
  readonly nameAttribute: string
  /** Attribute of a user that lists the DNs of their groups; '' for none. */
  readonly userMemberAttribute: string
}

// RFC 4512 section 2.5: a name or a dotted number, optionally with options.
const attributeName = /^([A-Za-z][-A-Za-z0-9]*|\d+(\.\d+)+)(;[-A-Za-z0-9]+)*$/

const attribute = (fallback: string, description: string) => text({ default: fallback, description })

export const ldapProvider = section({
  host: requiredText({ description: 'host:port, or an ldap:// or ldaps:// URL.' }),
  readTimeout: integer({
    // Below the timeout of kapis-apiserver for a response, which is 30 seconds.
    ...{ default: 15_000, min: 100, max: 25_000 },
    description: 'Timeout for a login, in milliseconds.',
  }),
  startTLS: boolean({ default: false, description: 'TLS after StartTLS (RFC 4511 section 4.14).' }),
  ldaps: boolean({ default: false, description: 'TLS from the start of the connection (LDAPS).' }),
  ...trustOptions,
  managerDN: text({
    default: '',
    description: 'Bind DN for searches; empty for an anonymous search.',
  }),
  managerPassword: text({ ...secretLine, default: '', description: 'The password of managerDN.' }),
  userSearchBase: requiredText({ description: 'Base DN of users.' }),
  userSearchFilter: text({ default: '', description: 'Filter for entries of users (RFC 4515).' }),
  loginAttribute: attribute('uid', 'Attribute that users enter as user name.'),
  uidAttribute: attribute(
    '',
    'Attribute that uniquely and permanently identifies a user, such as entryUUID; by default loginAttribute.',
  ),
  mailAttribute: attribute('mail', 'Attribute with the e-mail address.'),
  displayNameAttribute: attribute('displayName', 'Attribute with the display name.'),
  groupSearchBase: text({ default: '', description: 'Base DN of groups.' }),
  groupSearchFilter: text({ default: '', description: 'Filter for entries of groups (RFC 4515).' }),
  groupMemberAttribute: attribute('member', 'Attribute of a group that lists its members.'),
  groupMemberValueAttribute: attribute(
    '',
    'Attribute of a user whose value groupMemberAttribute contains; by default the DN.',
  ),
  groupNameAttribute: attribute('cn', 'Attribute with the name of a group.'),
  userMemberAttribute: attribute(
    '',
    'Attribute of a user that lists the DNs of their groups, such as memberOf.',
  ),
}).transform((section, { addIssue }): LdapConfig => {
  const reportIssue = createIssueReporter(addIssue)
  const { managerDN: managerDn, managerPassword } = section
  // The server would treat an empty password as an anonymous bind (RFC 4513 section 5.1.2).
  if (managerDn !== '' && managerPassword === '') reportIssue('managerPassword', 'is required with managerDN')
  const attributeOf = (key: AttributeKey, fallback: string) => {
    if (section[key] !== '' && !attributeName.test(section[key]))
      reportIssue(key, 'must be the name of an attribute')
    return section[key] || fallback
  }
  const filterOf = (key: 'userSearchFilter' | 'groupSearchFilter') =>
    readFilter(section[key], key, reportIssue)
  const loginAttribute = attributeOf('loginAttribute', 'uid')
  return {
    ...readServer(section, reportIssue),
    trust: readTrust(section, reportIssue),
    timeoutMs: section.readTimeout,
    managerDn,
    managerPassword,
    userSearchBase: section.userSearchBase,
    userSearchFilter: filterOf('userSearchFilter'),
    loginAttribute,
    uidAttribute: attributeOf('uidAttribute', loginAttribute),
    mailAttribute: attributeOf('mailAttribute', 'mail'),
    displayNameAttribute: attributeOf('displayNameAttribute', 'displayName'),
    groups: {
      searchBase: section.groupSearchBase,
      searchFilter: filterOf('groupSearchFilter'),
      memberAttribute: attributeOf('groupMemberAttribute', 'member'),
      memberValueAttribute: attributeOf('groupMemberValueAttribute', ''),
      nameAttribute: attributeOf('groupNameAttribute', 'cn'),
      userMemberAttribute: attributeOf('userMemberAttribute', ''),
    },
  }
})

type AttributeKey =
  | 'loginAttribute'
  | 'uidAttribute'
  | 'mailAttribute'
  | 'displayNameAttribute'
  | 'groupMemberAttribute'
  | 'groupMemberValueAttribute'
  | 'groupNameAttribute'
  | 'userMemberAttribute'

/** Parses `host`: a host name with an optional port, or a URL (RFC 4516) without other parts. */
function readServer(
  section: { readonly host: string; readonly startTLS: boolean; readonly ldaps: boolean },
  reportIssue: ReportIssue,
): Pick<LdapConfig, 'host' | 'port' | 'security'> {
  const [, scheme, name = '', digits] =
    /^(?:(ldaps?):\/\/)?(\[[0-9a-fA-F:.]+\]|[-\w.]+)(?::(\d{1,5}))?\/?$/.exec(section.host) ?? []
  if (name === '') reportIssue('host', 'must be host:port, or an ldaps:// or ldap:// URL')
  const { startTLS: isStartTls } = section
  const isLdaps = section.ldaps || scheme === 'ldaps'
  const port = Number(digits ?? (isLdaps ? 636 : 389))
  if (port === 0 || port > 65_535) reportIssue('host', 'must have a port from 1 to 65535')
  if (isStartTls && isLdaps) reportIssue('startTLS', 'must not be true with LDAPS, which uses TLS already')
  else if (isStartTls && port === 636) {
    reportIssue('startTLS', 'cannot be used with port 636, the port of LDAPS: set ldaps: true instead')
  }
  const security = isLdaps ? 'ldaps' : isStartTls ? 'starttls' : 'none'
  return { host: name.replace(/^\[(.*)\]$/, '$1'), port, security }
}

function readFilter(text: string, key: string, reportIssue: ReportIssue): string {
  const filter = text.trim()
  if (filter === '') return ''
  const whole = filter.startsWith('(') ? filter : `(${filter})`
  try {
    FilterParser.parseString(whole)
  } catch {
    reportIssue(key, 'must be a search filter such as (objectClass=person)')
  }
  return whole
}
