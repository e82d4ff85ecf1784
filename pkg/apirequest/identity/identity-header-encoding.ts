import { isUtf8 } from 'node:buffer'

/**
 * Encodes the key of an extra field for a header name. Header names are case-insensitive tokens
 * (RFC 9110 section 5.6.2), so every other character is percent-encoded, upper-case letters too:
 * kube-apiserver converts the name to lower case before it decodes it.
 */
export function encodeExtraKey(key: string): string {
  return encodeURIComponent(key).replace(/%[0-9A-F]{2}|[A-Z()'*]/g, found =>
    found.length > 1 ? found.toLowerCase() : `%${found.charCodeAt(0).toString(16)}`,
  )
}

/**
 * Decodes the key of an extra field from a header name. A name with invalid percent-encoding is
 * returned unchanged, as in kube-apiserver. Returns undefined for invalid UTF-8.
 */
export function decodeExtraKey(text: string): string | undefined {
  const lower = text.toLowerCase()
  if (/%(?![0-9a-f]{2})/.test(lower)) return lower
  try {
    return decodeURIComponent(lower)
  } catch {
    return undefined
  }
}

/** Encodes a header value: Node.js writes latin1, Kubernetes reads UTF-8. */
export function encodeHeaderText(value: string): string {
  return Buffer.from(value, 'utf8').toString('latin1')
}

/** Decodes a header value, which Node.js reads as latin1, as UTF-8; undefined if invalid. */
export function decodeHeaderText(value: string): string | undefined {
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined
}
