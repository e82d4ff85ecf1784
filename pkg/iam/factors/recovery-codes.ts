import { randomInt } from 'node:crypto'
import type { PasswordHasher } from '../passwords/password.ts'
import { readTypedCode } from './typed-code.ts'

/** Letters and digits, without those that look the same. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const count = 10
const selectorLength = 2
/** The ten characters after the selector have 50 bits, enough with bcrypt and lockout. */
const length = selectorLength + 10

/**
 * A stored recovery code: its first two characters, which are unique in the list and select the
 * hash to verify, and the bcrypt hash of the whole code.
 */
export type StoredRecoveryCode = { readonly selector: string; readonly hash: string }

export type NewRecoveryCodes = {
  /** The codes in the form for users: ABCD-EFGH-JKLM. */
  readonly codes: readonly string[]
  readonly stored: readonly StoredRecoveryCode[]
}

export async function newRecoveryCodes({ hash }: Pick<PasswordHasher, 'hash'>): Promise<NewRecoveryCodes> {
  const selectors = new Set<string>()
  while (selectors.size < count) selectors.add(randomText(selectorLength))
  const plain = [...selectors].map(selector => selector + randomText(length - selectorLength))
  const stored: StoredRecoveryCode[] = []
  // Sequentially, so that hashes of concurrent logins can run in between.
  for (const code of plain) stored.push({ selector: code.slice(0, selectorLength), hash: await hash(code) })
  return { codes: plain.map(code => (code.match(/.{4}/g) ?? []).join('-')), stored }
}

/**
 * Returns the stored code that the user has entered; undefined for a wrong code. It always costs
 * one hash, so that timing does not reveal the selectors.
 */
export async function findRecoveryCode(
  { verify }: Pick<PasswordHasher, 'verify'>,
  stored: readonly StoredRecoveryCode[],
  typed: string,
): Promise<StoredRecoveryCode | undefined> {
  const code = readTypedCode(typed)
  const candidate = stored.find(({ selector }) => code.length === length && code.startsWith(selector))
  return (await verify(code, candidate?.hash)) ? candidate : undefined
}

function randomText(size: number): string {
  return Array.from({ length: size }, () => alphabet[randomInt(alphabet.length)]).join('')
}
