import type { User } from '../users/user.ts'

const everybody = 'system:authenticated'

/** Reports whether `authentication.secondFactorGroups` requires a second factor of a user. */
export function isFactorRequired(groups: readonly string[], user: Pick<User, 'groups'>): boolean {
  return groups.some(group => group === everybody || user.groups.includes(group))
}
