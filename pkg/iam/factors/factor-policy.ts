import type { User } from '../users/user.ts'

/** The group that every user is in. */
const everybody = 'system:authenticated'

/** Whether a user must have a second factor: `authentication.secondFactorGroups`. */
export function isFactorRequired(groups: readonly string[], user: Pick<User, 'groups'>): boolean {
  return groups.some(group => group === everybody || user.groups.includes(group))
}
