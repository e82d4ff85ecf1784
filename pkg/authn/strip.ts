import type { IncomingMessage } from 'node:http'
import { Status } from '../status/status.ts'

const identityHeader = /^(authorization$|x-remote-)/i

/** What stands in the place of a header that was taken off. */
export const strippedHeader = 'x-kapis-stripped'

/**
 * Takes the credential and every claimed identity off a request, so that nothing behind can log or forward them. The raw
 * headers are blanked and not removed: node counts on their number when it makes its other views of them.
 */
export function stripCredentials(req: IncomingMessage): void {
  const { rawHeaders } = req
  let isStripped = false
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    if (!identityHeader.test(name)) continue
    delete req.headers[name.toLowerCase()]
    rawHeaders[i] = strippedHeader
    rawHeaders[i + 1] = ''
    isStripped = true
  }
  // Made from the raw ones when they are asked for; a view that was made before would still have them.
  if (isStripped) Object.assign(req, { headersDistinct: undefined })
}

/**
 * Refuses impersonation on a direct request. kube-apiserver resolves it before it forwards; ignoring the headers here
 * would answer as the caller what was asked as somebody else.
 *
 * @throws Status 403
 */
export function refuseImpersonation(req: IncomingMessage): void {
  for (const name in req.headers) {
    if (!name.startsWith('impersonate-')) continue
    throw new Status(
      403,
      'Forbidden',
      'impersonation is not supported here: send the request through kube-apiserver',
    )
  }
}
