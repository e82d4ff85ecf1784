import type { Factors } from './factors.ts'
import { maxPasskeys, type Passkey } from './passkey.ts'

/** The reason why a passkey is rejected, which is also logged for audit. */
export type PasskeyProblem =
  | 'wrong_passkey'
  /** The challenge was used before. */
  | 'passkey_replayed'
  /** The signature counter has not increased: the key may be a copy (section 6.1.1). */
  | 'passkey_counter'
  | 'too_many_logins'
  | 'passkey_known'
  | 'too_many_passkeys'

/** Longer than the life of a progress ticket with a challenge, even if the clocks of replicas differ. */
const challengeMs = 1_200_000
const maxChallenges = 100

export type UsedPasskey = Pick<Passkey, 'id' | 'publicKey' | 'counter'> & { readonly challenge: string }

/** Records the use of a passkey whose signature was verified. */
export function usePasskey(
  known: Factors,
  { id, publicKey, counter, challenge }: UsedPasskey,
  nowMs = Date.now(),
): Factors | PasskeyProblem {
  const passkey = known.passkeys.find(each => each.id === id && each.publicKey === publicKey)
  if (passkey === undefined) return 'wrong_passkey'
  const next = useChallenge(known, challenge, nowMs)
  if (typeof next === 'string') return next
  const counts = counter > 0 || passkey.counter > 0
  if (counts && counter <= passkey.counter) return 'passkey_counter'
  const used = { ...passkey, counter, lastUsedAtMs: nowMs }
  return { ...next, passkeys: known.passkeys.map(each => (each === passkey ? used : each)) }
}

/** Adds a verified passkey. */
export function addPasskey(
  known: Factors,
  passkey: Passkey,
  challenge: string,
  nowMs = Date.now(),
): Factors | PasskeyProblem {
  if (known.passkeys.some(({ id }) => id === passkey.id)) return 'passkey_known'
  if (known.passkeys.length >= maxPasskeys) return 'too_many_passkeys'
  const next = useChallenge(known, challenge, nowMs)
  return typeof next === 'string' ? next : { ...next, passkeys: [...known.passkeys, passkey] }
}

function useChallenge(known: Factors, challenge: string, nowMs: number): Factors | PasskeyProblem {
  const recent = known.usedChallenges.filter(({ atMs }) => nowMs - atMs < challengeMs)
  if (recent.some(used => used.challenge === challenge)) return 'passkey_replayed'
  if (recent.length >= maxChallenges) return 'too_many_logins'
  return { ...known, usedChallenges: [...recent, { challenge, atMs: nowMs }] }
}
