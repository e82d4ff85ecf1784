import { parse } from 'yaml'
import type { ReceivedResponse } from './request-sender.ts'
import type { GeneratedRequest } from './requests.ts'

/**
 * Errors of requests that Kapis rejects although kube-apiserver may allow them: the status, and the
 * start of the message.
 */
const rejections: readonly (readonly [why: string, code: number, message: RegExp])[] = [
  ['the APIs of others take a credential', 401, /^Unauthorized$/],
  ['a header cannot carry the identity', 403, /^the identity from \S+ authentication cannot be used: /],
  ['nor the identity to act as', 400, /^invalid impersonation headers: /],
  ['an unknown impersonation header', 400, /^unknown header impersonate-\S+; supported: /],
  ['and one that is not valid text', 400, /^the header impersonate-\S+ is not valid UTF-8$/],
  ['nor to impersonate without a user', 400, /^Impersonate-User must be given with every other /],
  ['the parser of Node.js does not know the method', 501, /^unknown method$/],
  ['the path has two readings', 400, /^the path contains /],
  ['so has the query', 400, /^the query contains | is given more than once$/],
  ['and the method', 400, /^the header \S+ names another method /],
]

/** Returns whether Kapis has rejected a request itself. A HEAD response contains no reason. */
export function isOwnError({ method, target }: GeneratedRequest, { code, text }: ReceivedResponse): boolean {
  if (code === 403 && isWriteBelowWatch(method, target)) return true
  const own = rejections.filter(([, ownCode]) => code === ownCode)
  if (own.length === 0 || method === 'HEAD') return own.length > 0
  const message = messageIn(text)
  return own.some(([, , start]) => start.test(message))
}

/** At kube-apiserver the verb of such a path is `watch`, whatever the method; at Kapis the method decides. */
function isWriteBelowWatch(method: string, target: string): boolean {
  return ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method) && target.includes('/watch/')
}

/** Returns the message of a Status in JSON or YAML; '' for any other text. */
function messageIn(text: string): string {
  try {
    return String(parse(text)?.message ?? '')
  } catch {
    return ''
  }
}
