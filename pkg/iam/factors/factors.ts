import { isRecord } from '../../kubeclient/object/object.ts'
import { type Passkey, parsePasskey } from './passkey.ts'
import type { StoredRecoveryCode } from './recovery-codes.ts'

/** The second factors of a user. */
export type Factors = {
  /** The authenticator app: its secret in Base32, and the newest time step that was accepted. */
  readonly totp: { readonly secret: string; readonly lastStep: number } | undefined
  readonly passkeys: readonly Passkey[]
  /** The recently used challenges of passkeys. */
  readonly usedChallenges: readonly UsedChallenge[]
  readonly recoveryCodes: readonly StoredRecoveryCode[]
}

export type UsedChallenge = { readonly challenge: string; readonly atMs: number }

export const noFactors: Factors = { totp: undefined, passkeys: [], usedChallenges: [], recoveryCodes: [] }

/** Reports whether a user has a second factor; recovery codes only replace a lost one. */
export function hasFactors({ totp, passkeys }: Pick<Factors, 'totp' | 'passkeys'>): boolean {
  return totp !== undefined || passkeys.length > 0
}

/** @throws Error for content of a newer release, which must not mean "no factor" */
export function parseFactors(text: string): Factors {
  const stored: unknown = JSON.parse(text)
  if (!isRecord(stored)) throw new Error('it is not an object')
  const { totp } = stored
  return {
    totp: totp === undefined ? undefined : parseTotp(totp),
    passkeys: parseList(stored, 'passkeys', parsePasskey),
    usedChallenges: parseList(stored, 'usedChallenges', parseChallenge),
    recoveryCodes: parseList(stored, 'recoveryCodes', parseCode),
  }
}

function parseList<T>(
  stored: Readonly<Record<string, unknown>>,
  name: string,
  parse: (each: unknown) => T,
): T[] {
  const list = stored[name]
  if (list === undefined && name !== 'recoveryCodes') return []
  if (!Array.isArray(list)) throw new Error(`${name} is not a list`)
  return list.map(parse)
}

function parseTotp(value: unknown) {
  if (isRecord(value) && typeof value.secret === 'string' && typeof value.lastStep === 'number')
    return { secret: value.secret, lastStep: value.lastStep }
  throw new Error('totp is invalid')
}

function parseChallenge(value: unknown): UsedChallenge {
  if (isRecord(value) && typeof value.challenge === 'string' && typeof value.atMs === 'number')
    return { challenge: value.challenge, atMs: value.atMs }
  throw new Error('a used challenge is invalid')
}

function parseCode(value: unknown): StoredRecoveryCode {
  if (isRecord(value) && typeof value.selector === 'string' && typeof value.hash === 'string')
    return { selector: value.selector, hash: value.hash }
  throw new Error('a recovery code is invalid')
}
