import { readFileSync } from 'node:fs'
import { expect } from 'chai'

/** One request to both servers, with the two audit IDs. */
export type Pair = {
  readonly what: string
  readonly isWrite: boolean
  /** Kapis has refused it by itself, perhaps before it knew the caller. */
  readonly isOwnRefusal: boolean
  readonly kube: string
  readonly kapis: string
}

type User = {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** Of an event of audit.k8s.io/v1. */
type Event = {
  readonly auditID: string
  readonly verb: string
  readonly requestURI: string
  readonly user: User
  readonly impersonatedUser?: User
  readonly objectRef?: Readonly<Record<string, string>>
}

/** Expects the same attributes in both audit logs. @returns how many requests were compared */
export function compareAudits(pairs: readonly Pair[], kubeLog: string, kapisLog: string): number {
  const kube = readEvents(kubeLog)
  const kapis = readEvents(kapisLog)
  let compared = 0
  for (const pair of pairs) {
    const [expected, event] = [kube.get(pair.kube), kapis.get(pair.kapis)]
    // A watch that has just been left is not written down yet.
    if (expected === undefined || event === undefined) continue
    if (event.user.username === undefined && pair.isOwnRefusal) continue
    compared++
    // Below /watch/ kube-apiserver reports any method as a watch
    // (docs/adr/0013-one-reading-of-a-request.md).
    const isRenamed = pair.isWrite && expected.verb === 'watch'
    if (isRenamed) expect(event.verb, pair.what).to.not.be.oneOf(['get', 'list', 'watch'])
    const verb = isRenamed ? event.verb : expected.verb
    const wanted = { ...attributesOf(expected), verb }
    // The name of a created object is in the body, which Kapis does not parse.
    const isNamedByBody = verb === 'create' && event.objectRef !== undefined && !('name' in event.objectRef)
    const { name, ...objectRef } = expected.objectRef ?? {}
    expect(attributesOf(event), pair.what).to.deep.equal(isNamedByBody ? { ...wanted, objectRef } : wanted)
  }
  return compared
}

/** The last event of each request, by its audit ID. */
function readEvents(file: string): ReadonlyMap<string, Event> {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  const events = lines.map((line): Event => JSON.parse(line))
  return new Map(events.map(event => [event.auditID, event]))
}

function attributesOf({ verb, requestURI, user, impersonatedUser, objectRef }: Event): object {
  // Kapis keeps tokens out of its log.
  const redacted = requestURI.replaceAll(/(?<=access_token=)[^&]*/g, '[redacted]')
  return { verb, requestURI: redacted, user, impersonatedUser, objectRef }
}
