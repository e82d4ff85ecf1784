import type { PasswordHasher } from '../../iam/passwords/password.ts'
import type { User } from '../../iam/users/user.ts'
import type { EndpointOptions } from '../endpoints/dependencies.ts'

/** Dependencies of the pages, in addition to those of other endpoints. */
export type BrowserOptions = EndpointOptions & {
  readonly productName: string
  readonly hasher: PasswordHasher
  /** Returns the password hash; undefined for a user without a password. @throws Status 503 */
  readonly hashOf: (user: User) => Promise<string | undefined>
  /** Sets the password that a user has chosen. @throws Status 409 if the user has changed */
  readonly changePassword: (user: User, passwordHash: string) => Promise<User>
}
