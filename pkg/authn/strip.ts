import type { IncomingMessage } from 'node:http'
import { Status } from '../status/status.ts'

const identityHeader = /^(authorization$|x-remote-)/i

/** Takes the credential and every claimed identity off a request, so that nothing behind can log or forward them. */
export function stripCredentials(req: IncomingMessage): void {
  const { rawHeaders } = req
  const kept: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    if (identityHeader.test(name)) delete req.headers[name.toLowerCase()]
    else kept.push(name, rawHeaders[i + 1] ?? '')
  }
  if (kept.length === rawHeaders.length) return
  req.rawHeaders = kept
  // Made from the raw ones when they are asked for; a copy that was made before would still have them.
  Object.assign(req, { headersDistinct: undefined })
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
