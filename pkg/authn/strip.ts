import type { IncomingMessage } from 'node:http'
import { strippedHeader } from '../request/stripped.ts'

/** By the first letter first: this is asked of every header of every request. */
function isIdentity(name: string): boolean {
  const first = name[0]
  if (first === 'A' || first === 'a') return name.length === 13 && name.toLowerCase() === 'authorization'
  return (first === 'X' || first === 'x') && name.toLowerCase().startsWith('x-remote-')
}

/**
 * Takes the credential and every claimed identity off a request, so that nothing behind can log or forward them.
 */
export function stripCredentials(req: IncomingMessage): void {
  const { rawHeaders } = req
  let isStripped = false
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    if (!isIdentity(name)) continue
    // Not deleted: that would make every later look at the headers slow.
    req.headers[name.toLowerCase()] = undefined
    rawHeaders[i] = strippedHeader
    rawHeaders[i + 1] = ''
    isStripped = true
  }
  // Made from the raw ones when they are asked for; a view that was made before would still have them.
  if (isStripped) Object.assign(req, { headersDistinct: undefined })
}
