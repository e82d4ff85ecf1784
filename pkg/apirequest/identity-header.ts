import { isUtf8 } from 'node:buffer'

/**
 * The key of an extra field as a part of a header name. Header names are tokens (RFC 9110 section 5.6.2) without case;
 * everything else is percent-encoded, capitals too: kube-apiserver reads the name in lower case first, and then decodes it.
 */
export function encodeExtraKey(key: string): string {
  return encodeURIComponent(key).replace(/%[0-9A-F]{2}|[A-Z()'*]/g, found =>
    found.length > 1 ? found.toLowerCase() : `%${found.charCodeAt(0).toString(16)}`,
  )
}

/** Reads the key back from a header name; one that is not valid percent-encoding stays as it came, as at kube-apiserver. */
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
