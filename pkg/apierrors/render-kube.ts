import type { ServerResponse } from 'node:http'
import { type Status, toStatus } from './status.ts'

/** Returns the metav1.Status JSON of an error, with the fields in the order of kube-apiserver. */
export function toKubeStatus(status: Status): Record<string, unknown> {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: status.metadata,
    status: 'Failure',
    message: status.message,
    reason: status.reason,
    ...(status.details === undefined ? {} : { details: status.details }),
    code: status.code,
  }
}

/** Encodes a Status in a format that the caller accepts. */
export type StatusForm = { readonly contentType: string; readonly encode: (json: string) => string }

const json: StatusForm = { contentType: 'application/json', encode: text => `${text}\n` }

/**
 * Writes a thrown value as a metav1.Status body, and returns it so that the caller can log the
 * cause. If the headers are already sent, it closes the connection: the client then sees an aborted
 * response rather than a complete one.
 */
export function renderKube(res: ServerResponse, error: unknown, form: StatusForm = json): Status {
  const status = toStatus(error)
  if (res.headersSent) {
    res.destroy()
    return status
  }
  const body = Buffer.from(form.encode(JSON.stringify(toKubeStatus(status))))
  res.writeHead(status.code, {
    ...status.headers,
    'content-type': form.contentType,
    'content-length': body.length,
    'cache-control': 'no-cache, private',
    'x-content-type-options': 'nosniff',
  })
  // Node.js omits the body for a HEAD request (RFC 9110 section 9.3.2).
  res.end(body)
  return status
}
