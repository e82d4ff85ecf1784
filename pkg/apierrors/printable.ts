/** Replaces characters that RFC 6749 does not allow in error_description. */
export function printable(text: string): string {
  return text.slice(0, 64).replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?')
}
