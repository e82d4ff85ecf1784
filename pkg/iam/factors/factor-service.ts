import { Status } from '../../apierrors/status.ts'
import { createLockout, secondsUntil } from '../lockout/lockout.ts'
import type { PasswordHasher } from '../passwords/password.ts'
import type { FactorAttempt, PasswordChecker, PasswordVerdict } from '../passwords/password-check.ts'
import type { User } from '../users/user.ts'
import { isFactorRequired } from './factor-policy.ts'
import type { FactorStore } from './factor-store.ts'
import { type Factors, hasFactors } from './factors.ts'
import type { RelyingParty } from './passkey.ts'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from './passkey-response.ts'
import { addPasskey, type PasskeyProblem, usePasskey } from './passkey-use.ts'
import { findRecoveryCode, type NewRecoveryCodes, newRecoveryCodes } from './recovery-codes.ts'
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
   * Verifies the response of a passkey, and uses up its challenge. Failures count like those of
   * codes.
   *
   * @throws Status 503; the reason of the signal if the client has disconnected
   */
  readonly checkPasskey: (
    attempt: FactorAttempt,
    response: ChallengeResponse<AuthenticationResponseJSON>,
  ) => Promise<{ readonly verdict: PasswordVerdict; readonly problem: PasskeyProblem }>
  /**
   * Stores an authenticator app after checking a code of it. If the user has no recovery codes yet,
   * they are created too.
   *
   * @param mayReplace whether an existing factor may be replaced, since the user has proven one
   */
  readonly addTotp: (user: User, app: NewTotp) => Promise<Enrolment>
  /** Stores a passkey after verifying its response. */
  readonly addPasskey: (user: User, passkey: NewPasskey) => Promise<Enrolment>
  /** @returns false if the user has no passkey with this id */
  readonly renamePasskey: (user: User, id: string, name: string) => Promise<boolean>
  readonly removeTotp: (user: User) => Promise<Removal>
  readonly removePasskey: (user: User, id: string) => Promise<Removal>
  /**
   * @returns new codes, which replace all earlier codes; undefined for a user without a factor
   * @throws Status 429 after too many new codes, as addTotp and addPasskey do
   */
  readonly renewRecoveryCodes: (user: User) => Promise<readonly string[] | undefined>
  /** Whether passkeys can be created for the issuer. */
  readonly hasPasskeys: boolean
  /** The options of navigator.credentials.create, as JSON; undefined without passkeys. */
  readonly passkeyCreation: (user: User, challenge: string) => Promise<object | undefined>
  /** The options of navigator.credentials.get, as JSON; undefined without a passkey of the user. */
  readonly passkeyRequest: (factors: Factors, challenge: string) => Promise<object | undefined>
}

/** The response of a browser to a challenge. */
export type ChallengeResponse<T> = { readonly response: T; readonly challenge: string }
export type NewTotp = { readonly secret: string; readonly code: string; readonly mayReplace: boolean }
export type NewPasskey = ChallengeResponse<RegistrationResponseJSON> & {
  readonly name: string
  readonly mayReplace: boolean
}

export type Enrolment =
  | { readonly outcome: 'stored'; readonly recoveryCodes: readonly string[] }
  /** `refused`: the user has a factor, which this login has not used. */
  | { readonly outcome: 'wrong_code' | 'refused' | PasskeyProblem }

/** `refused`: it is the last factor of a user who must have one. */
export type Removal = 'removed' | 'missing' | 'refused'

export type FactorServiceOptions = {
  readonly store: FactorStore
  readonly passwords: Pick<PasswordChecker, 'checkFactor'>
  readonly hasher: Pick<PasswordHasher, 'hash' | 'verify'>
  /** Returns the groups whose members need a second factor. */
  readonly requiredGroups: () => readonly string[]
  /** Undefined if the issuer cannot have passkeys. */
  readonly party: RelyingParty | undefined
}

// Each set of recovery codes costs ten hashes. A user needs few of them.
const newCodes = { maxTries: 5, durationSeconds: 600 }

/** Loads the library at the first use of a passkey. */
const loadWebAuthn = () => import('./verify-passkey.ts')

/** Enrols and checks second factors. */
export function createFactorService(options: FactorServiceOptions): FactorService {
  const { store, passwords, hasher, requiredGroups, party } = options
  const isRequired = (user: Pick<User, 'groups'>) => isFactorRequired(requiredGroups(), user)

  const lockout = createLockout({ rules: { user: newCodes, address: newCodes } })

  /** @throws Status 429 */
  async function createCodes({ name }: User): Promise<NewRecoveryCodes> {
    const attempt = await lockout.begin([`user:${name}`])
    if (typeof attempt === 'number')
      throw new Status(429, 'slow_down', 'too many new recovery codes: try again in ten minutes', {
        headers: { 'retry-after': String(secondsUntil(attempt)) },
      })
    attempt.failed()
    return newRecoveryCodes(hasher)
  }

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

  /** Verifies a passkey, and uses up its challenge. @returns undefined if the passkey is valid */
  async function takePasskey(
    user: User,
    { response, challenge }: ChallengeResponse<AuthenticationResponseJSON>,
  ): Promise<PasskeyProblem | undefined> {
    // Only the user's own passkeys count: another user may have registered the same id.
    const passkey = (await store.read(user)).passkeys.find(({ id }) => id === response.id)
    if (party === undefined || passkey === undefined) return 'wrong_passkey'
    const { verifyAssertion } = await loadWebAuthn()
    const verified = await verifyAssertion({ party, challenge }, passkey, response)
    if (verified === undefined) return 'wrong_passkey'
    return changeOrExplain(user, known => usePasskey(known, { ...passkey, ...verified, challenge }))
  }

  /** Changes the factors. @returns the reason if `next` rejects the change */
  async function changeOrExplain<T extends string>(
    user: User,
    next: (known: Factors) => Factors | T,
  ): Promise<T | undefined> {
    let why: T | undefined
    await store.change(user, known => {
      const result = next(known)
      why = typeof result === 'string' ? result : undefined
      return typeof result === 'string' ? undefined : result
    })
    return why
  }

  async function enrol(
    user: User,
    mayReplace: boolean,
    add: (known: Factors) => Factors | PasskeyProblem,
  ): Promise<Enrolment> {
    const isFirst = (await store.read(user)).recoveryCodes.length === 0
    const { codes, stored } = isFirst ? await createCodes(user) : { codes: [], stored: [] }
    const outcome = await changeOrExplain<PasskeyProblem | 'refused'>(user, known => {
      if (hasFactors(known) && !mayReplace) return 'refused'
      return add({ ...known, recoveryCodes: isFirst ? stored : known.recoveryCodes })
    })
    return outcome === undefined ? { outcome: 'stored', recoveryCodes: codes } : { outcome }
  }

  async function remove(user: User, without: (known: Factors) => Factors): Promise<Removal> {
    const outcome = await changeOrExplain<Removal>(user, known => {
      const left = without(known)
      if (left.totp === known.totp && left.passkeys.length === known.passkeys.length) return 'missing'
      return hasFactors(left) || !isRequired(user) ? left : 'refused'
    })
    return outcome ?? 'removed'
  }

  return {
    isRequired,
    read: user => store.read(user),
    checkCode: (attempt, { kind, code }) =>
      passwords.checkFactor(attempt, () =>
        kind === 'totp' ? takeTotp(attempt.user, code) : takeRecoveryCode(attempt.user, code),
      ),
    async checkPasskey(attempt, response) {
      let problem: PasskeyProblem | undefined
      const verdict = await passwords.checkFactor(attempt, async () => {
        problem = await takePasskey(attempt.user, response)
        return problem === undefined
      })
      return { verdict, problem: problem ?? 'wrong_passkey' }
    },
    async addTotp(user, { secret, code, mayReplace }) {
      const lastStep = findTotpStep(secret, code, { lastStep: 0 })
      if (lastStep === undefined) return { outcome: 'wrong_code' }
      return enrol(user, mayReplace, known => ({ ...known, totp: { secret, lastStep } }))
    },
    async addPasskey(user, { response, challenge, name, mayReplace }) {
      if (party === undefined) return { outcome: 'wrong_passkey' }
      const { verifyRegistration } = await loadWebAuthn()
      const verified = await verifyRegistration({ party, challenge }, user, response)
      if (verified === undefined) return { outcome: 'wrong_passkey' }
      const nowMs = Date.now()
      const passkey = { ...verified, name, createdAtMs: nowMs, lastUsedAtMs: nowMs }
      return enrol(user, mayReplace, known => addPasskey(known, passkey, challenge))
    },
    renamePasskey: (user, id, name) =>
      store.change(user, known =>
        known.passkeys.some(passkey => passkey.id === id)
          ? { ...known, passkeys: known.passkeys.map(each => (each.id === id ? { ...each, name } : each)) }
          : undefined,
      ),
    removeTotp: user => remove(user, known => ({ ...known, totp: undefined })),
    removePasskey: (user, id) =>
      remove(user, known => ({ ...known, passkeys: known.passkeys.filter(each => each.id !== id) })),
    async renewRecoveryCodes(user) {
      const { codes, stored } = await createCodes(user)
      const isStored = await store.change(user, known =>
        hasFactors(known) ? { ...known, recoveryCodes: stored } : undefined,
      )
      return isStored ? codes : undefined
    },
    hasPasskeys: party !== undefined,
    async passkeyCreation(user, challenge) {
      if (party === undefined) return undefined
      const [{ creationOptions }, { passkeys }] = await Promise.all([loadWebAuthn(), store.read(user)])
      return creationOptions({ party, challenge }, user, passkeys)
    },
    async passkeyRequest({ passkeys }, challenge) {
      if (party === undefined || passkeys.length === 0) return undefined
      const { requestOptions } = await loadWebAuthn()
      return requestOptions({ party, challenge }, passkeys)
    },
  }
}
