/**
 * The key of an extra field as a part of a header name. Header names are tokens (RFC 9110 section 5.6.2); what is none is
 * percent-encoded, as client-go does it.
 */
export function encodeKey(key: string): string {
  return encodeURIComponent(key)
    .replace(/[()'*]/g, char => `%${char.charCodeAt(0).toString(16)}`)
    .toLowerCase()
}

/** Node writes header values as latin1; Kubernetes reads UTF-8. */
export function encodeValue(value: string): string {
  return Buffer.from(value, 'utf8').toString('latin1')
}
