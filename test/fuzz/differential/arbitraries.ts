import fc from 'fast-check'

export const weighted = <T>(...choices: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<T>])[]) =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))

export const of = <T>(...values: readonly T[]) => fc.constantFrom(...values)

export const words = (text: string) => fc.constantFrom(...text.split(' '))

/** Percent-encodes the byte of a text at a position. */
export function encodeAt(text: string, place: number): string {
  const at = place % text.length
  const code = (text.charCodeAt(at) % 256).toString(16).padStart(2, '0')
  return text[at] === '/' ? text : `${text.slice(0, at)}%${code}${text.slice(at + 1)}`
}
