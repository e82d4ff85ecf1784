import { readFileSync } from 'node:fs'
import { expect } from 'chai'

/** The audit IDs of a request at both servers. */
export type Pair = {
  readonly what: string
  readonly isWrite: boolean
  /** Whether Kapis has rejected the request itself, possibly before authentication. */
  readonly isOwnError: boolean
  readonly kube: string
  readonly kapis: string
}

type User = {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** The compared fields of an event of audit.k8s.io/v1. */
type Event = {
  readonly auditID: string
  readonly verb: string
  readonly requestURI: string
  readonly user: User
  readonly impersonatedUser?: User | undefined
  readonly objectRef?: Readonly<Record<string, string>>
}

/** Expects the same attributes in both audit logs. @returns the number of compared requests */
export function compareAudits(pairs: readonly Pair[], kubeLog: string, kapisLog: string): number {
  const kube = readEvents(kubeLog)
  const kapis = readEvents(kapisLog)
  let compared = 0
  for (const pair of pairs) {
    const [expected, event] = [kube.get(pair.kube), kapis.get(pair.kapis)]
    // The event of a watch may be missing if it has just ended.
    if (expected === undefined || event === undefined) continue
    if (event.user.username === undefined && pair.isOwnError) continue
    compared++
    // For any method below /watch/, kube-apiserver reports a watch
    // (docs/adr/0013-one-reading-of-a-request.md).
    const isRenamed = pair.isWrite && expected.verb === 'watch'
    if (isRenamed) expect(event.verb, pair.what).to.not.be.oneOf(['get', 'list', 'watch'])
    const verb = isRenamed ? event.verb : expected.verb
    // Kapis rejects unknown impersonation headers before it applies the others (docs/compatibility.md).
    const isRejected = pair.isOwnError && pair.what.includes('unknown header impersonate-')
    const { impersonatedUser } = isRejected ? event : expected
    const required = { ...attributesOf({ ...expected, impersonatedUser }), verb }
    // The name of a created object is in the body, which Kapis does not parse.
    const isNamedByBody = verb === 'create' && event.objectRef !== undefined && !('name' in event.objectRef)
    const { name, ...objectRef } = expected.objectRef ?? {}
    expect(attributesOf(event), pair.what).to.deep.equal(
      isNamedByBody ? { ...required, objectRef } : required,
    )
  }
  return compared
}

/** Returns the last event of each request, by audit ID. */
function readEvents(file: string): ReadonlyMap<string, Event> {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  const events = lines.map((line): Event => JSON.parse(line))
  return new Map(events.map(event => [event.auditID, event]))
}

function attributesOf({ verb, requestURI, user, impersonatedUser, objectRef }: Event): object {
  // Kapis redacts tokens in its audit log.
  const redacted = requestURI.replaceAll(/(?<=access_token=)[^&]*/g, '[redacted]')
  return { verb, requestURI: redacted, user, impersonatedUser, objectRef }
}
