import type { Io } from '../command.ts'
import { itemsOf, type Platform, whoAmI } from '../session/platform-client.ts'
import { printable } from '../session/printable.ts'
import { toTable } from '../session/table.ts'

type AccessCall = { readonly platform: Platform; readonly io: Pick<Io, 'out' | 'err'> }
type Decision = 'Approved' | 'Denied' | 'Revoked'

/** The columns of an AccessRequest in tables. */
type AccessRequestRow = {
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
): Promise<void> {
  const { platform, io } = call
  const { name, ...spec } = request
  const { username, uid } = await callerOf(platform)
  const domain = await platform.groupDomain()
  const made = await platform.call('request access', await pathOf(platform), {
    method: 'POST',
    body: {
      apiVersion: `iam.${domain}/v1alpha2`,
      kind: 'AccessRequest',
      metadata: { name },
      spec: { user: username, userUid: uid, ...spec },
    },
  })
  platform.show(made, () => {
    const { group, until } = toShown(made)
    io.out(`${name}\n`)
    io.err(`${printable(`Requested the group ${group} until ${until.toISOString()}`)}.\n`)
    io.err(`Users who may impersonate it can approve the request: kapis access approve ${name}\n`)
  })
}

/** Decides an AccessRequest. @throws Error with the message of the server, or if it has expired */
export async function decide({ platform, io }: AccessCall, name: string, decision: Decision): Promise<void> {
  const path = `${await pathOf(platform)}/${encodeURIComponent(name)}`
  const found = toShown(await platform.call('read the request', path))
  if (decision === 'Approved' && found.until.getTime() <= Date.now())
    throw new Error(`the request ${name} expired at ${found.until.toISOString()}: create another request`)
  const { username } = await callerOf(platform)
  const decided = await platform.call(`decide about the request ${name}`, `${path}/status`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { status: { state: decision, by: username } },
  })
  platform.show(decided, () => {
    const { user, group, reason, until } = found
    const whose = user === username ? 'your own request' : `the request of ${user}`
    const end = decision === 'Approved' ? ` until ${until.toISOString()}` : ''
    io.err(`${printable(`${decision} ${whose} for the group ${group}${end} (reason: ${reason})`)}.\n`)
  })
}

/** Prints the AccessRequests. @throws Error with the message of the server */
export async function listRequests({ platform, io }: AccessCall): Promise<void> {
  const found = itemsOf((await platform.call('list the requests', await pathOf(platform))).items)
  platform.show(found, () => {
    const rows = found
      .map(toShown)
      .toSorted((a, b) => b.until.getTime() - a.until.getTime())
      .map(({ name, user, group, state, until, by, reason }) => [
        ...[name, user, group, state, until.toISOString(), by, reason],
      ])
    io.out(toTable([['NAME', 'USER', 'GROUP', 'STATE', 'UNTIL', 'BY', 'REASON'], ...rows]))
  })
}

async function pathOf(platform: Platform): Promise<string> {
  return `/apis/iam.${await platform.groupDomain()}/v1alpha2/accessrequests`
}

async function callerOf(platform: Platform) {
  const { username, uid } = await whoAmI(platform)
  return { username: String(username ?? ''), uid: String(uid ?? '') }
}

function toShown(value: unknown): AccessRequestRow {
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
