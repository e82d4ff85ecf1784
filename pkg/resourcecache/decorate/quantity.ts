/**
 * Kubernetes resource quantities (k8s.io/apimachinery/pkg/api/resource), exact down to the nano
 * unit. The format is preserved, because a sum is printed in the format of its first term.
 */
export type Quantity = { readonly nano: bigint; readonly format: 'decimal' | 'binary' }

export const zero: Quantity = { nano: 0n, format: 'decimal' }

const nanoPerUnit = 1_000_000_000n
const decimalSuffixes: readonly (readonly [string, bigint])[] = [
  ['E', 10n ** 27n],
  ['P', 10n ** 24n],
  ['T', 10n ** 21n],
  ['G', 10n ** 18n],
  ['M', 10n ** 15n],
  ['k', 10n ** 12n],
  ['', nanoPerUnit],
  ['m', 1_000_000n],
  ['u', 1_000n],
  ['n', 1n],
]
const binarySuffixes: readonly (readonly [string, bigint])[] = [
  ['Ei', nanoPerUnit << 60n],
  ['Pi', nanoPerUnit << 50n],
  ['Ti', nanoPerUnit << 40n],
  ['Gi', nanoPerUnit << 30n],
  ['Mi', nanoPerUnit << 20n],
  ['Ki', nanoPerUnit << 10n],
]
const scales = new Map([...decimalSuffixes, ...binarySuffixes])
const syntax = /^([+-]?)(\d*)(?:\.(\d*))?(?:([KMGTPE]i|[numkMGTPE])|[eE]([+-]?\d{1,3}))?$/

/** Parses a quantity; invalid text is zero, as kube-apiserver has validated it. */
export function parseQuantity(text: unknown): Quantity {
  const match = syntax.exec(typeof text === 'number' ? String(text) : typeof text === 'string' ? text : '')
  if (!match) return zero
  const [, sign, whole = '', fraction = '', suffix = '', exponent = '0'] = match
  if (whole === '' && fraction === '') return zero
  const power = Number(exponent)
  let scale = scales.get(suffix) ?? nanoPerUnit
  let divisor = 10n ** BigInt(fraction.length)
  if (power >= 0) scale *= 10n ** BigInt(power)
  else divisor *= 10n ** BigInt(-power)
  const product = BigInt(whole + fraction) * scale
  // Values below the nano unit are rounded up, away from zero.
  const nano = (product + divisor - 1n) / divisor
  return { nano: sign === '-' ? -nano : nano, format: suffix.endsWith('i') ? 'binary' : 'decimal' }
}

export function add(a: Quantity, b: Quantity): Quantity {
  return { nano: a.nano + b.nano, format: a.nano === 0n ? b.format : a.format }
}

export function subtract(a: Quantity, b: Quantity): Quantity {
  return { nano: a.nano - b.nano, format: a.format }
}

export function larger(a: Quantity, b: Quantity): Quantity {
  return b.nano > a.nano ? b : a
}

/** Formats a quantity with the largest suffix of a whole number, such as `1250m` or `2Gi`. */
export function formatQuantity({ nano, format }: Quantity): string {
  if (nano === 0n) return '0'
  const suffixes = format === 'binary' ? [...binarySuffixes, ...decimalSuffixes.slice(6)] : decimalSuffixes
  const [suffix, scale] = suffixes.find(([, size]) => nano % size === 0n) ?? ['n', 1n]
  return `${nano / scale}${suffix}`
}

/** Returns `part` as a percentage of `whole`, rounded down; 0 if `whole` is zero. */
export function percent(part: Quantity, whole: Quantity): number {
  return whole.nano === 0n ? 0 : Number((part.nano * 100n) / whole.nano)
}
