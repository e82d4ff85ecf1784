import {
  AndFilter,
  type Client,
  EqualityFilter,
  type Filter,
  FilterParser,
  SizeLimitExceededError,
} from 'ldapts'
import { loginError } from '../linking/login-error.ts'
import type { LdapConfig } from './ldap-config.ts'

export type LdapEntry = {
  readonly dn: string
  /** Returns the text values of an attribute in any case. @throws Status for only some of them */
  readonly values: (attribute: string) => readonly string[]
}

/** The only matching entry, or why there is none. */
export type LdapSearchResult = LdapEntry | 'none' | 'several'

/**
 * Finds the entry of a user. The filter contains the entered name as a BER value, so nothing has to
 * be escaped in the filter syntax (RFC 4515).
 */
export async function findEntry(
  client: Client,
  config: LdapConfig,
  { attribute, value }: { attribute: string; value: string },
): Promise<LdapSearchResult> {
  const { loginAttribute, uidAttribute, mailAttribute, displayNameAttribute, groups } = config
  const attributes = [loginAttribute, uidAttribute, mailAttribute, displayNameAttribute]
  const more = [groups.memberValueAttribute, groups.userMemberAttribute].filter(name => name !== '')
  try {
    const { searchEntries } = await client.search(config.userSearchBase, {
      scope: 'sub',
      filter: both(equals(attribute, value), config.userSearchFilter),
      attributes: [...new Set([...attributes, ...more])],
      sizeLimit: 2,
    })
    const [entry, ...others] = searchEntries
    if (entry === undefined) return 'none'
    return others.length === 0 ? toEntry(entry) : 'several'
  } catch (error) {
    if (error instanceof SizeLimitExceededError) return 'several'
    throw error
  }
}

export function equals(attribute: string, value: string): Filter {
  return new EqualityFilter({ attribute, value })
}

/** Combines two filters with AND. @param filter in the syntax of RFC 4515; '' for none */
export function both(condition: Filter, filter: string): Filter {
  return filter === '' ? condition : new AndFilter({ filters: [condition, FilterParser.parseString(filter)] })
}

export function toEntry(entry: Awaited<ReturnType<Client['search']>>['searchEntries'][number]): LdapEntry {
  const { dn, ...attributes } = entry
  const byName = new Map(Object.entries(attributes).map(([name, values]) => [name.toLowerCase(), values]))
  return {
    dn,
    values(attribute) {
      const name = attribute.toLowerCase()
      // Active Directory returns the first of very many values as `memberOf;range=0-1499`.
      const part = [...byName.keys()].find(each => each.startsWith(`${name};range=`))
      if (part !== undefined)
        throw loginError(
          'provider_groups_incomplete',
          'the LDAP server returned only some values of this user',
          new Error(`the entry ${JSON.stringify(dn)} has too many values: the server returned ${part}`),
        )
      const values = byName.get(name) ?? []
      return (Array.isArray(values) ? values : [values]).filter(value => typeof value === 'string')
    },
  }
}
