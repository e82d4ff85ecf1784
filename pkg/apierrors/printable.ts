/**
 * Replaces characters that error_description must not contain: RFC 6749 allows printable ASCII
 * without quotes and backslashes.
 */
export function printable(text: string): string {
  return text.slice(0, 64).replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?')
}
