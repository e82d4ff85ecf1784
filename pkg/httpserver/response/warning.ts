import type { ServerResponse } from 'node:http'

// kube-apiserver drops warnings beyond this length.
const maxLength = 256

/**
 * Adds a Warning header (RFC 9111 section 5.5) to a response: kubectl and client-go print it.
 * The same text is added once. Characters other than printable ASCII are replaced by `?`.
 */
export function addWarning(res: ServerResponse, text: string): void {
  const printable = text.slice(0, maxLength).replaceAll(/[^\x20-\x7e]/g, '?')
  passWarning(res, `299 - "${printable.replaceAll(/["\\]/g, '\\$&')}"`)
}

/** Adds a whole Warning header, once. A response that the deadline has sent takes no more of them. */
export function passWarning(res: ServerResponse, header: string): void {
  // A request that is read again, since the caller's rights have changed, warns again.
  const given = [res.getHeader('warning') ?? []].flat()
  if (!res.headersSent && !given.includes(header)) res.appendHeader('warning', header)
}
