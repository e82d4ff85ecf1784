/**
 * Normalizes a code that a person has typed or pasted: upper case, without white space and dashes.
 * Input methods type full-width letters and digits, and documents contain other dashes and
 * invisible characters.
 */
export function readTypedCode(typed: string): string {
  return typed
    .normalize('NFKC')
    .replace(/[\s\p{Pd}\p{Cf}]/gu, '')
    .toUpperCase()
}
