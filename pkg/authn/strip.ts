import type { IncomingMessage } from 'node:http'
import { Status } from '../status/status.ts'

const identityHeader = /^(authorization$|x-remote-)/

/** Takes the credential and every claimed identity off a request, so that nothing behind can log or forward them. */
export function stripCredentials(req: IncomingMessage): void {
  for (const name of Object.keys(req.headers)) {
    if (!identityHeader.test(name)) continue
    delete req.headers[name]
    delete req.headersDistinct[name]
  }
}

/**
 * Refuses impersonation on a direct request. kube-apiserver resolves it before it forwards; ignoring the headers here
 * would answer as the caller what was asked as somebody else.
 *
 * @throws Status 403
 */
export function refuseImpersonation(req: IncomingMessage): void {
  if (!Object.keys(req.headers).some(name => name.startsWith('impersonate-'))) return
  throw new Status(
    403,
    'Forbidden',
    'impersonation is not supported here: send the request through kube-apiserver',
  )
}
