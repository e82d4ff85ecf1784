import { isRecord } from '../../kubeclient/object/object.ts'
import type { StoredRecoveryCode } from './recovery-codes.ts'

/** The second factors of a user. */
export type Factors = {
  /** The authenticator app: its secret in Base32, and the newest time step that was accepted. */
  readonly totp: { readonly secret: string; readonly lastStep: number } | undefined
  readonly recoveryCodes: readonly StoredRecoveryCode[]
}

export const noFactors: Factors = { totp: undefined, recoveryCodes: [] }

/**
 * Reports whether a user has a second factor. Recovery codes only replace a lost factor, so they do
 * not count.
 */
export function hasFactors({ totp }: Factors): boolean {
  return totp !== undefined
}

/**
 * @throws Error for content that this release does not understand, since it must not mean "no
 * factor"
 */
export function parseFactors(text: string): Factors {
  const stored: unknown = JSON.parse(text)
  if (!isRecord(stored)) throw new Error('it is not an object')
  const { totp, recoveryCodes } = stored
  if (!Array.isArray(recoveryCodes)) throw new Error('recoveryCodes is not a list')
  return {
    totp: totp === undefined ? undefined : parseTotp(totp),
    recoveryCodes: recoveryCodes.map(parseCode),
  }
}

function parseTotp(value: unknown) {
  if (isRecord(value) && typeof value.secret === 'string' && typeof value.lastStep === 'number')
    return { secret: value.secret, lastStep: value.lastStep }
  throw new Error('totp is invalid')
}

function parseCode(value: unknown): StoredRecoveryCode {
  if (isRecord(value) && typeof value.selector === 'string' && typeof value.hash === 'string')
    return { selector: value.selector, hash: value.hash }
  throw new Error('a recovery code is invalid')
}
