import { createHash, randomInt } from 'node:crypto'
import { readTypedCode } from '../../iam/factors/typed-code.ts'

// RFC 8628 section 6.1: without vowels, to avoid words. 20^8 is about 34 bits, enough for ten
// minutes and few attempts.
const letters = 'BCDFGHJKLMNPQRSTVWXZ'
const length = 8

/** Returns a new random code for people to type, such as WDJB-MJHT. */
export function newUserCode(): string {
  const code = Array.from({ length }, () => letters[randomInt(letters.length)]).join('')
  return toShown(code)
}

/** Normalizes an entered code without case, spaces and dashes; undefined if impossible. */
export function readUserCode(typed: string): string | undefined {
  const code = readTypedCode(typed)
  return /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/.test(code) ? toShown(code) : undefined
}

function toShown(code: string): string {
  return `${code.slice(0, length / 2)}-${code.slice(length / 2)}`
}

/** Returns the object name of a device: a hash, which does not reveal the user code. */
export function toDeviceName(userCode: string): string {
  return createHash('sha256').update(`device ${userCode}`).digest('hex').slice(0, 40)
}
