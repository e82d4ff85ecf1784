import type { ServerResponse } from 'node:http'

// kube-apiserver drops warnings beyond so many characters.
const maxLength = 256

/**
 * Adds a warning for the user to a response (RFC 9111 section 5.5): kubectl and client-go print it. What is not printable ASCII is
 * replaced by `?`.
 */
export function addWarning(res: ServerResponse, text: string): void {
  const printable = text.slice(0, maxLength).replaceAll(/[^\x20-\x7e]/g, '?')
  res.appendHeader('warning', `299 - "${printable.replaceAll(/["\\]/g, '\\$&')}"`)
}
