import type { Identity } from '../apirequest/identity/identity.ts'
import type { RecordingPolicy } from '../config/sections/recordings.ts'
import { createNamePattern } from '../logs/name-pattern.ts'

/** The users to whom a policy may apply: the user of a session, and its impersonator. */
export type Users = readonly Pick<Identity, 'username' | 'groups'>[]

/** Decides which sessions must be recorded. */
export type Policies = {
  /** Returns the name of the first policy that applies; undefined without one. */
  readonly find: (users: Users, namespace: string) => string | undefined
  /** Reports whether any policy applies to these users, regardless of the namespace. */
  readonly concern: (users: Users) => boolean
}

/** @param read returns the currently configured policies */
export function createPolicies(read: () => readonly RecordingPolicy[]): Policies {
  let known: readonly RecordingPolicy[] | undefined
  let rules: readonly Rule[] = []
  const current = () => {
    const policies = read()
    if (policies !== known) rules = policies.map(toRule)
    known = policies
    return rules
  }
  return {
    find: (users, namespace) =>
      current().find(rule => rule.isIn(namespace) && users.some(user => rule.isFor(user)))?.name,
    concern: users => current().some(rule => users.some(user => rule.isFor(user))),
  }
}

type Rule = {
  readonly name: string
  readonly isIn: (namespace: string) => boolean
  readonly isFor: (user: Users[number]) => boolean
}

function toRule({ name, namespaces, users, groups }: RecordingPolicy): Rule {
  const patterns = namespaces.map(createNamePattern)
  const isForAll = users.length === 0 && groups.length === 0
  return {
    name,
    isIn: namespace => patterns.length === 0 || patterns.some(matches => matches(namespace)),
    isFor: user =>
      isForAll || users.includes(user.username) || user.groups.some(group => groups.includes(group)),
  }
}
