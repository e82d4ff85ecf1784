/**
 * A number or a quantity (k8s.io/apimachinery/pkg/api/resource) of any precision: sign × 0.digits ×
 * 10^point, where digits neither begin nor end with 0.
 */
export type Amount = { readonly sign: -1 | 0 | 1; readonly point: number; readonly digits: string }

// Maximum length of a number, above those of kube-apiserver. Longer text is compared as text, which
// limits the cost.
const maxLength = 64
const syntax = /^([+-]?)(\d*)(?:\.(\d*))?(?:([KMGTPE]i|[numkMGTPE])|[eE]([+-]?\d{1,9}))?$/
const decimalExponents: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
}
const binaryShifts: Readonly<Record<string, bigint>> = {
  Ki: 10n,
  Mi: 20n,
  Gi: 30n,
  Ti: 40n,
  Pi: 50n,
  Ei: 60n,
}

/** Parses a number or a quantity; undefined for other text, such as a name. */
export function parseAmount(text: string): Amount | undefined {
  const match = text.length <= maxLength ? syntax.exec(text) : null
  if (match === null) return undefined
  const [, sign, whole = '', fraction = '', suffix = '', exponent = '0'] = match
  if (whole === '' && fraction === '') return undefined
  const shift = binaryShifts[suffix]
  const written = shift === undefined ? whole + fraction : String(BigInt(whole + fraction) << shift)
  const digits = written.replace(/^0+/, '')
  if (digits === '') return { sign: 0, point: 0, digits: '' }
  const point = digits.length - fraction.length + (decimalExponents[suffix] ?? Number(exponent))
  return { sign: sign === '-' ? -1 : 1, point, digits: digits.replace(/0+$/, '') }
}

/** Returns a negative number, 0 or a positive number, as Array.sort requires. */
export function compareAmounts(a: Amount, b: Amount): number {
  if (a.sign !== b.sign) return a.sign - b.sign
  if (a.point !== b.point) return a.sign * (a.point - b.point)
  if (a.digits === b.digits) return 0
  return a.digits < b.digits ? -a.sign : a.sign
}
