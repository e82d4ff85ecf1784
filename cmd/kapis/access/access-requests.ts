import type { Io } from '../command.ts'
import { parseJson } from '../session/http.ts'
import type { Platform } from '../session/platform-client.ts'
import { printable } from '../session/printable.ts'
import { toTable } from '../session/table.ts'

export type AccessCall = {
  readonly platform: Platform
  readonly domain: string
  readonly isJson: boolean
  readonly io: Pick<Io, 'out' | 'err'>
}
export type Decision = 'Approved' | 'Denied' | 'Revoked'

/** The columns of an AccessRequest in tables. */
type Shown = {
  readonly name: string
  readonly user: string
  readonly group: string
  readonly reason: string
  readonly state: string
  readonly by: string
  readonly until: Date
}

/** Creates an AccessRequest. @throws Error with the message of the server */
export async function requestAccess(
  call: AccessCall,
  request: {
    readonly name: string
    readonly group: string
    readonly seconds: number
    readonly reason: string
  },
): Promise<number> {
  const { platform, domain, io } = call
  const { name, ...spec } = request
  const { username, uid } = await whoAmI(platform)
  const answer = await platform.call('request access', pathOf(call), {
    method: 'POST',
    body: JSON.stringify({
      apiVersion: `iam.${domain}/v1alpha2`,
      kind: 'AccessRequest',
      metadata: { name },
      spec: { user: username, userUid: uid, ...spec },
    }),
  })
  const made = parseJson(answer)
  if (call.isJson) return printJson(call, made)
  const { group, until } = toShown(made)
  io.out(`${name}\n`)
  io.err(`${printable(`Requested the group ${group} until ${until.toISOString()}`)}.\n`)
  io.err(`Users who may impersonate it can approve the request: kapis access approve ${name}\n`)
  return 0
}

/**
 * Approves or denies an AccessRequest. @throws Error with the message of the server, or if the
 * request has expired
 */
export async function decide(call: AccessCall, name: string, decision: Decision): Promise<number> {
  const { platform, io } = call
  const path = `${pathOf(call)}/${encodeURIComponent(name)}`
  const found = toShown(parseJson(await platform.call('read the request', path)))
  if (decision === 'Approved' && found.until.getTime() <= Date.now())
    throw new Error(`the request ${name} expired at ${found.until.toISOString()}: create another request`)
  const { username } = await whoAmI(platform)
  const answer = await platform.call(`decide about the request ${name}`, `${path}/status`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ status: { state: decision, by: username } }),
  })
  if (call.isJson) return printJson(call, parseJson(answer))
  const { user, group, reason, until } = found
  const whose = user === username ? 'your own request' : `the request of ${user}`
  const end = decision === 'Approved' ? ` until ${until.toISOString()}` : ''
  io.err(`${printable(`${decision} ${whose} for the group ${group}${end} (reason: ${reason})`)}.\n`)
  return 0
}

/** Prints the AccessRequests. @throws Error with the message of the server */
export async function listRequests(call: AccessCall): Promise<number> {
  const { platform, io } = call
  const { items } = parseJson(await platform.call('list the requests', pathOf(call)))
  const found: readonly unknown[] = Array.isArray(items) ? items : []
  if (call.isJson) return printJson(call, found)
  const rows = found
    .map(toShown)
    .toSorted((a, b) => b.until.getTime() - a.until.getTime())
    .map(({ name, user, group, state, until, by, reason }) => [
      ...[name, user, group, state, until.toISOString(), by, reason],
    ])
  io.out(toTable([['NAME', 'USER', 'GROUP', 'STATE', 'UNTIL', 'BY', 'REASON'], ...rows]))
  return 0
}

function pathOf({ domain }: AccessCall): string {
  return `/apis/iam.${domain}/v1alpha2/accessrequests`
}

function printJson({ io }: AccessCall, value: unknown): number {
  io.out(`${JSON.stringify(value, null, 2)}\n`)
  return 0
}

/** Returns the name and uid of the caller, as kube-apiserver reports them. */
async function whoAmI(platform: Platform): Promise<{ readonly username: string; readonly uid: string }> {
  const answer = await platform.call(
    'find your user name',
    '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    {
      method: 'POST',
      body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }),
    },
  )
  const { userInfo } = Object(parseJson(answer).status)
  const { username, uid } = Object(userInfo)
  return { username: String(username ?? ''), uid: String(uid ?? '') }
}

function toShown(value: unknown): Shown {
  const { metadata, spec, status } = Object(value)
  const { name, creationTimestamp } = Object(metadata)
  const { user, group, reason, seconds } = Object(spec)
  const { state, by } = Object(status)
  const until = new Date((Date.parse(String(creationTimestamp)) || 0) + (Number(seconds) || 0) * 1000)
  const isOver = until.getTime() <= Date.now() && (state === undefined || state === 'Approved')
  return {
    ...{ name: String(name), user: String(user), group: String(group), reason: String(reason), until },
    state: isOver ? 'Expired' : String(state ?? 'Pending'),
    by: String(by ?? ''),
  }
}
