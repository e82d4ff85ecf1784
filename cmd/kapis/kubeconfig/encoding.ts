/** The text of a file, and a function that encodes text with its byte order mark. */
export type DecodedText = { readonly text: string; readonly encode: (text: string) => Buffer }

const bom = '\ufeff'

/**
 * Decodes a kubeconfig: UTF-8, or UTF-16 with a byte order mark, which PowerShell writes. go-yaml,
 * and so kubectl, reads both.
 *
 * @throws Error for invalid bytes
 */
export function decode(bytes: Buffer): DecodedText {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return { text: utf16(bytes, 'utf-16le'), encode: toUtf16 }
  if (first === 0xfe && second === 0xff)
    return { text: utf16(bytes, 'utf-16be'), encode: text => toUtf16(text).swap16() }
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  if (!text.startsWith(bom)) return { text, encode: next => Buffer.from(next) }
  return { text: text.slice(1), encode: next => Buffer.from(bom + next) }
}

function utf16(bytes: Buffer, encoding: string): string {
  return new TextDecoder(encoding, { fatal: true }).decode(bytes)
}

function toUtf16(text: string): Buffer {
  return Buffer.from(bom + text, 'utf16le')
}
