import type { Identity } from '../request/identity.ts'
import type { RequestInfo } from '../request/request-info.ts'
import { forbidden } from './refusal.ts'

const readingVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'head'])
// They are begun with GET, and then do whatever comes through them.
const tunnels: ReadonlySet<string> = new Set(['exec', 'attach', 'portforward', 'proxy'])
// Questions about oneself that happen to be asked with POST.
const questions: ReadonlySet<string> = new Set([
  'authentication.k8s.io/selfsubjectreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
])

/**
 * Holds a credential to its scope, before anything is asked about its owner: one that may only read does not write, does not
 * open a tunnel, and does not act as somebody else.
 *
 * @throws Status 403
 */
export function assertInScope(info: RequestInfo, identity: Identity): void {
  if (identity.isReadOnly !== true) return
  const isReading = readingVerbs.has(info.verb) && !tunnels.has(info.subresource)
  const isQuestion = info.verb === 'create' && questions.has(`${info.group}/${info.resource}`)
  if (!isReading && !isQuestion) throw forbidden(info, identity, 'the token may only read')
}
