import type { PasswordHasher } from '../passwords/password.ts'
import type { FactorAttempt, PasswordChecker, PasswordVerdict } from '../passwords/password-check.ts'
import type { User } from '../users/user.ts'
import { isFactorRequired } from './factor-policy.ts'
import type { FactorStore } from './factor-store.ts'
import { type Factors, hasFactors } from './factors.ts'
import { findRecoveryCode, newRecoveryCodes } from './recovery-codes.ts'
import { findTotpStep } from './totp.ts'

/** A code that a user has entered as the second factor. */
export type EnteredCode = { readonly kind: 'totp' | 'recovery'; readonly code: string }

export type FactorService = {
  /** Reports whether the policy requires a second factor of the user. */
  readonly isRequired: (user: Pick<User, 'groups'>) => boolean
  /** Reads the factors of a user. @throws Status 503 */
  readonly read: (user: User) => Promise<Factors>
  /**
   * Checks a code; a correct code cannot be used again. Failures count, and lock the user, like
   * wrong passwords.
   *
   * @throws Status 503; the reason of the signal if the client has disconnected
   */
  readonly checkCode: (attempt: FactorAttempt, entered: EnteredCode) => Promise<PasswordVerdict>
  /**
   * Stores an authenticator app after checking a code of it. If the user has no recovery codes yet,
   * they are created too.
   *
   * @param mayReplace whether an existing factor may be replaced, since the user has proven one
   */
  readonly addTotp: (user: User, app: NewTotp) => Promise<Enrolment>
  /** @returns false if there was no authenticator app */
  readonly removeTotp: (user: User) => Promise<boolean>
  /** @returns new codes, which replace all earlier codes; undefined for a user without a factor */
  readonly renewRecoveryCodes: (user: User) => Promise<readonly string[] | undefined>
}

export type NewTotp = { readonly secret: string; readonly code: string; readonly mayReplace: boolean }

export type Enrolment =
  | { readonly outcome: 'stored'; readonly recoveryCodes: readonly string[] }
  | { readonly outcome: 'wrong' | 'refused' }

export type FactorServiceOptions = {
  readonly store: FactorStore
  readonly passwords: Pick<PasswordChecker, 'checkFactor'>
  readonly hasher: Pick<PasswordHasher, 'hash' | 'verify'>
  /** Returns the groups whose members need a second factor. */
  readonly requiredGroups: () => readonly string[]
}

/** Enrols and checks second factors. */
export function createFactorService(options: FactorServiceOptions): FactorService {
  const { store, passwords, hasher, requiredGroups } = options

  /** If two replicas get the same code, the second one finds the time step already used. */
  function takeTotp(user: User, code: string): Promise<boolean> {
    return store.change(user, ({ totp, ...others }) => {
      const lastStep = totp && findTotpStep(totp.secret, code, totp)
      return totp === undefined || lastStep === undefined
        ? undefined
        : { ...others, totp: { ...totp, lastStep } }
    })
  }

  async function takeRecoveryCode(user: User, code: string): Promise<boolean> {
    const { recoveryCodes } = await store.read(user)
    const used = await findRecoveryCode(hasher, recoveryCodes, code)
    if (used === undefined) return false
    return store.change(user, known => {
      const left = known.recoveryCodes.filter(({ hash }) => hash !== used.hash)
      return left.length === known.recoveryCodes.length ? undefined : { ...known, recoveryCodes: left }
    })
  }

  return {
    isRequired: user => isFactorRequired(requiredGroups(), user),
    read: user => store.read(user),
    checkCode: (attempt, { kind, code }) =>
      passwords.checkFactor(attempt, () =>
        kind === 'totp' ? takeTotp(attempt.user, code) : takeRecoveryCode(attempt.user, code),
      ),
    async addTotp(user, { secret, code, mayReplace }) {
      const lastStep = findTotpStep(secret, code, { lastStep: 0 })
      if (lastStep === undefined) return { outcome: 'wrong' }
      const isFirst = (await store.read(user)).recoveryCodes.length === 0
      const { codes, stored } = isFirst ? await newRecoveryCodes(hasher) : { codes: [], stored: [] }
      const isStored = await store.change(user, known => {
        if (hasFactors(known) && !mayReplace) return undefined
        return { ...known, totp: { secret, lastStep }, recoveryCodes: isFirst ? stored : known.recoveryCodes }
      })
      return isStored ? { outcome: 'stored', recoveryCodes: codes } : { outcome: 'refused' }
    },
    removeTotp: user =>
      store.change(user, known => (known.totp === undefined ? undefined : { ...known, totp: undefined })),
    async renewRecoveryCodes(user) {
      const { codes, stored } = await newRecoveryCodes(hasher)
      const isStored = await store.change(user, known =>
        hasFactors(known) ? { ...known, recoveryCodes: stored } : undefined,
      )
      return isStored ? codes : undefined
    },
  }
}
