/** A text that a server sent, as it may be written to a terminal: control characters would be orders to it. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
}
