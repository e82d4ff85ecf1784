import type { IncomingMessage } from 'node:http'

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
