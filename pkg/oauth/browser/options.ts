import type { PasswordHasher } from '../../iam/passwords/password.ts'
import type { User } from '../../iam/users/user.ts'
import type { EndpointOptions } from '../endpoints/options.ts'

/** What the pages work with, next to what every endpoint does. */
export type BrowserOptions = EndpointOptions & {
  /** The name of the platform, as its users know it. */
  readonly productName: string
  readonly hasher: PasswordHasher
  /** Undefined for a user without a password. @throws Status 503 */
  readonly hashOf: (user: User) => Promise<string | undefined>
  /**
   * Gives a user the password that he has chosen.
   *
   * @throws Status 409 when the user was changed meanwhile
   */
  readonly changePassword: (user: User, passwordHash: string) => Promise<User>
}
