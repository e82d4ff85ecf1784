import type { FactorService } from '../iam/factors/factor-service.ts'
import { hasFactors } from '../iam/factors/factors.ts'
import type { User } from '../iam/users/user.ts'
import { type AuthenticationMethods, isMultiFactor } from '../jwt/authentication-methods.ts'
import { invalidGrant } from './server/error.ts'

type Policy = Pick<FactorService, 'isRequired'>
type Factors = Policy & Pick<FactorService, 'read'>

/**
 * Rejects users with a second factor, for logins without a page for its code: the password grant
 * and HTTP Basic.
 *
 * @param amr the methods that the identity provider has verified
 * @throws Status invalid_grant for a user who has a second factor, or needs one; 503
 */
export async function assertNoSecondFactor(
  factors: Factors,
  user: User,
  amr: AuthenticationMethods = '',
): Promise<void> {
  if (hasFactors(await factors.read(user)) || lacksSecondFactor(factors, user, amr))
    throw secondFactorRequired(user, 'this user needs a second factor: log in with a browser')
}

/** Rejects a login without the second factor of the policy. @throws Status invalid_grant */
export function assertSecondFactor(factors: Policy, user: User, amr: AuthenticationMethods): void {
  if (lacksSecondFactor(factors, user, amr))
    throw secondFactorRequired(user, 'this user needs a second factor: log in again')
}

/** Reports whether the policy requires a second factor that the login has not used. */
export function lacksSecondFactor(
  { isRequired }: Policy,
  user: Pick<User, 'groups'>,
  amr: AuthenticationMethods,
): boolean {
  return isRequired(user) && !isMultiFactor(amr)
}

function secondFactorRequired({ name: user }: User, description: string) {
  return invalidGrant(description, { why: 'second_factor_required', user })
}
