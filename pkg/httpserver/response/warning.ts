import type { ServerResponse } from 'node:http'

// kube-apiserver drops warnings beyond this length.
const maxLength = 256

/**
 * Adds a Warning header (RFC 9111 section 5.5) to a response, which kubectl and client-go print.
 * The same text is added only once. Characters other than printable ASCII are replaced by `?`.
 */
export function addWarning(res: ServerResponse, text: string): void {
  const printable = text.slice(0, maxLength).replaceAll(/[^\x20-\x7e]/g, '?')
  passWarning(res, `299 - "${printable.replaceAll(/["\\]/g, '\\$&')}"`)
}

/** Adds a complete Warning header, once, unless the headers were already sent. */
export function passWarning(res: ServerResponse, header: string): void {
  // A read that is repeated because the permissions of the caller have changed warns again.
  const warnings = [res.getHeader('warning') ?? []].flat()
  if (!res.headersSent && !warnings.includes(header)) res.appendHeader('warning', header)
}
