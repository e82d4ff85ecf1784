import { isUtf8 } from 'node:buffer'

/**
 * The key of an extra field as a part of a header name, in lower case. Header names are tokens (RFC 9110 section 5.6.2);
 * everything else is percent-encoded, as client-go does it.
 */
export function encodeExtraKey(key: string): string {
  return encodeURIComponent(key)
    .replace(/[()'*]/g, char => `%${char.charCodeAt(0).toString(16)}`)
    .toLowerCase()
}

/** Reads the key back from a header name; kube-apiserver keeps a key that is not valid percent-encoding as it came. */
export function decodeExtraKey(text: string): string {
  const lower = text.toLowerCase()
  try {
    return decodeURIComponent(lower)
  } catch {
    return lower
  }
}

/** Node writes header values as latin1; Kubernetes reads UTF-8. */
export function encodeHeaderText(value: string): string {
  return Buffer.from(value, 'utf8').toString('latin1')
}

/** Header bytes come as latin1 (RFC 9110 section 5.5); Kubernetes writes UTF-8. Undefined for bytes that are not UTF-8. */
export function decodeHeaderText(value: string): string | undefined {
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined
}
