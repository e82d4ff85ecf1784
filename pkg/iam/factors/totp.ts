import { Secret, TOTP } from 'otpauth'
import { readTypedCode } from './typed-code.ts'

/** The parameters that every authenticator app supports (RFC 6238): SHA-1, six digits, 30 seconds. */
const rules = { algorithm: 'SHA1', digits: 6, period: 30 } as const
/** Accepted difference in time steps, for clocks and typing (RFC 6238 section 5.2). */
const window = 1

/** Returns a new secret of 160 bits (RFC 4226 section 4) in Base32. */
export function newTotpSecret(): string {
  return new Secret({ size: 20 }).base32
}

/** Returns the `otpauth` URI, which authenticator apps read from a QR code. */
export function toTotpUri(
  secret: string,
  { issuer, label }: { readonly issuer: string; readonly label: string },
): string {
  return new TOTP({ ...rules, secret, issuer, label }).toString()
}

/**
 * Returns the time step of a code; undefined for a wrong code or a used time step, since a code is
 * only accepted once (RFC 6238 section 5.2).
 *
 * @param lastStep the newest step that was accepted; 0 for none
 */
export function findTotpStep(
  secret: string,
  code: string,
  { lastStep, nowMs = Date.now() }: { readonly lastStep: number; readonly nowMs?: number },
): number | undefined {
  const token = readTypedCode(code)
  if (!/^\d{6}$/.test(token)) return undefined
  const delta = new TOTP({ ...rules, secret }).validate({ token, window, timestamp: nowMs })
  if (delta === null) return undefined
  const step = Math.floor(nowMs / 1000 / rules.period) + delta
  return step > lastStep ? step : undefined
}
