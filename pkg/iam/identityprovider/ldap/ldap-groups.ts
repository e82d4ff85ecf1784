import type { Client } from 'ldapts'
import type { Status } from '../../../apierrors/status.ts'
import { loginError } from '../linking/login-error.ts'
import type { LdapConfig } from './ldap-config.ts'
import { both, equals, type LdapEntry, toEntry } from './ldap-entry.ts'

/**
 * Returns the groups of a user: the groups below groupSearchBase that list the user as a member,
 * and the groups of the user's memberOf attribute. Undefined if neither is configured.
 *
 * @throws Status that rejects the login if an entry lacks a required attribute
 */
export async function findGroups(
  client: Client,
  { groups }: LdapConfig,
  user: LdapEntry,
): Promise<readonly string[] | undefined> {
  const { searchBase, userMemberAttribute } = groups
  if (searchBase === '' && userMemberAttribute === '') return undefined
  const own =
    userMemberAttribute === '' ? [] : user.values(userMemberAttribute).map(name => firstValue(name) ?? name)
  return [...new Set([...own, ...(searchBase === '' ? [] : await search(client, groups, user))])]
}

async function search(
  client: Client,
  groups: LdapConfig['groups'],
  user: LdapEntry,
): Promise<readonly string[]> {
  const { memberValueAttribute, memberAttribute, nameAttribute } = groups
  const names = memberValueAttribute === '' ? [user.dn] : user.values(memberValueAttribute)
  // Without a value there is nothing to search for: the user would silently lose all groups and
  // their permissions.
  if (names.length === 0) throw incomplete('groupMemberValueAttribute', memberValueAttribute, user)
  const found: string[] = []
  for (const name of names) {
    const { searchEntries } = await client.search(groups.searchBase, {
      scope: 'sub',
      filter: both(equals(memberAttribute, name), groups.searchFilter),
      attributes: [nameAttribute],
    })
    for (const entry of searchEntries.map(toEntry)) {
      // A group with several names gets its first name.
      const [called] = entry.values(nameAttribute)
      if (called === undefined) throw incomplete('groupNameAttribute', nameAttribute, entry)
      found.push(called)
    }
  }
  return found
}

/** Returns the error for an entry without an attribute. @param option that names it */
function incomplete(option: string, attribute: string, { dn }: LdapEntry): Status {
  const cause = new Error(`the entry ${JSON.stringify(dn)} has no ${attribute} (${option})`)
  return loginError(
    'provider_groups_incomplete',
    'the LDAP server did not return the groups of this user',
    cause,
  )
}

/** Returns the value of the first RDN of a DN (RFC 4514), such as ops for `cn=ops,ou=groups`. */
export function firstValue(dn: string): string | undefined {
  const [, value] = /^\s*[A-Za-z0-9.-]+\s*=\s*((?:[^\\,+;]|\\.)*)/s.exec(dn) ?? []
  if (value === undefined) return undefined
  const bytes: Buffer[] = []
  for (const [part] of trimEnd(value).matchAll(/\\[0-9A-Fa-f]{2}|\\.|[^\\]+/gs)) {
    if (/^\\[0-9A-Fa-f]{2}$/.test(part)) bytes.push(Buffer.from(part.slice(1), 'hex'))
    else bytes.push(Buffer.from(part.startsWith('\\') ? part.slice(1) : part))
  }
  return Buffer.concat(bytes).toString('utf8')
}

/** Removes trailing spaces, except for an escaped space, which belongs to the value. */
function trimEnd(value: string): string {
  const trimmed = value.trimEnd()
  let start = trimmed.length
  while (trimmed[start - 1] === '\\') start--
  return (trimmed.length - start) % 2 === 0 ? trimmed : value.slice(0, trimmed.length + 1)
}
