import { maxPasskeys } from '../../../iam/factors/passkey.ts'
import type { PasskeyProblem } from '../../../iam/factors/passkey-use.ts'

/** Why a second factor is rejected; for the audit log too. */
export type FactorProblem = PasskeyProblem | 'wrong_code'

const explanations: Readonly<Record<PasskeyProblem, string>> = {
  wrong_passkey: 'The passkey was not accepted. Try again.',
  passkey_replayed: 'This page was used before. Try again.',
  passkey_counter:
    'The passkey was rejected, since it may have been copied. Use another factor, and remove the passkey.',
  passkey_known: 'This passkey is already registered.',
  too_many_logins: 'Too many logins with a passkey. Try again in 20 minutes.',
  too_many_passkeys: `You have ${maxPasskeys} passkeys. Remove one first.`,
}

/** @param which whether the factor is being set up, or was set up before */
export function explainFactor(problem: FactorProblem, which: 'new' | 'known'): string {
  if (problem !== 'wrong_code') return explanations[problem]
  return which === 'new'
    ? 'Wrong code. Check the clock of the device, and enter the code that it shows now.'
    : 'The code is wrong, or was used before.'
}
