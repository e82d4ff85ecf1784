import { parseArgs } from 'node:util'
import { type Command, type Io, UsageError } from './command.ts'
import { parseJson } from './session/http.ts'
import { connectPlatform, findGroupDomain, type Platform } from './session/platform.ts'
import { createPrompt } from './session/prompt.ts'
import { findServer, serverOptions, serverUsage } from './session/server.ts'
import { toTable } from './session/table.ts'

const options = {
  ...serverOptions,
  email: { type: 'string' },
  'display-name': { type: 'string' },
  lang: { type: 'string' },
  group: { type: 'string', multiple: true, default: [] as string[] },
  'must-change-password': { type: 'boolean', default: false },
  'no-password': { type: 'boolean', default: false },
  own: { type: 'boolean', default: false },
  output: { type: 'string', short: 'o', default: '' },
} as const

type Values = ReturnType<typeof parse>['values']
type Call = { readonly platform: Platform; readonly domain: string; readonly values: Values; readonly io: Io }
type Member = Readonly<Record<string, unknown>>

const actions: Readonly<
  Record<string, { takesName: boolean; run: (call: Call, name: string) => Promise<void> }>
> = {
  create: { takesName: true, run: create },
  list: { takesName: false, run: list },
  get: { takesName: true, run: get },
  disable: {
    takesName: true,
    run: (call, name) => setState(call, name, 'Disabled', 'disabled; every login has ended'),
  },
  enable: { takesName: true, run: (call, name) => setState(call, name, 'Active', 'enabled') },
  unlock: { takesName: true, run: unlock },
  'set-password': { takesName: true, run: setPassword },
  delete: { takesName: true, run: remove },
}

export const user: Command = {
  usage: `ACTION [NAME] [OPTION]…

  create NAME            make a user; the password is asked for, or piped in
  list                   all users, or those of a group (--group)
  get NAME               one of them
  disable NAME           no login any more, and those that there are end
  enable NAME            undo that
  unlock NAME            end a lock after too many wrong passwords
  set-password NAME      another password, asked for, or piped in; every login ends
  delete NAME            remove the user

${serverUsage}  --email ADDRESS        of a new user (needed)
  --display-name TEXT, --lang TAG
  --group NAME           of a new user, or of those who are listed; may be repeated
  --must-change-password the new user has to choose another one
  --no-password          the new user has none, and comes by an identity provider
  --own                  set-password of one's own: the current one is asked for first (piped in: on a line before it)
  --output json, -o      the answer as JSON
`,
  async run(args, io) {
    const { values, positionals } = parse(args)
    const [action = '', name = '', ...more] = positionals
    const chosen = Object.hasOwn(actions, action) ? actions[action] : undefined
    if (chosen === undefined)
      throw new UsageError(`${action || 'which'}: must be one of ${Object.keys(actions).join(', ')}`)
    if (chosen.takesName !== (name !== '') || more.length > 0)
      throw new UsageError(chosen.takesName ? `${action} needs one NAME` : `${action} takes no NAME`)
    const platform = await connectPlatform(findServer(values, io), io)
    const domain = await findGroupDomain(platform, io)
    await chosen.run({ platform, domain, values, io }, name)
    return 0
  },
}

function parse(args: readonly string[]) {
  return parseArgs({ args: [...args], allowPositionals: true, options })
}

const pathOf = ({ domain }: Call, rest = '') => `/kapis/iam.${domain}/v1alpha2/users${rest}`

async function create(call: Call, name: string): Promise<void> {
  const { platform, domain, values, io } = call
  if (values.email === undefined) throw new UsageError('create needs --email')
  const password = values['no-password'] ? undefined : await createPrompt(io)(`Password of ${name}: `)
  const annotations = values['must-change-password'] ? { [`iam.${domain}/uninitialized`]: 'true' } : {}
  const body = {
    apiVersion: `iam.${domain}/v1alpha2`,
    kind: 'User',
    metadata: { name, annotations },
    spec: {
      email: values.email,
      displayName: values['display-name'],
      lang: values.lang,
      groups: values.group,
      password,
    },
  }
  const made = await platform.call('cannot make the user', pathOf(call), {
    method: 'POST',
    body: JSON.stringify(body),
  })
  tell(call, parseJson(made), `user ${name} was made`)
}

async function list(call: Call): Promise<void> {
  const { platform, values, io } = call
  const query = new URLSearchParams({ sortBy: 'name', ascending: 'true' })
  const [group, ...others] = values.group
  if (others.length > 0) throw new UsageError('list takes one --group')
  if (group !== undefined) query.set('ingroup', group)
  const { items } = parseJson(await platform.call('cannot list the users', pathOf(call, `?${query}`)))
  const users: readonly Member[] = Array.isArray(items) ? items.map(Object) : []
  if (values.output === 'json') io.out(`${JSON.stringify(users, null, 2)}\n`)
  else io.out(toTable([['NAME', 'EMAIL', 'STATE', 'GROUPS', 'LAST LOGIN'], ...users.map(toRow)]))
}

async function get(call: Call, name: string): Promise<void> {
  const found = parseJson(
    await call.platform.call('cannot read the user', pathOf(call, `/${encodeURIComponent(name)}`)),
  )
  if (call.values.output === 'json') call.io.out(`${JSON.stringify(found, null, 2)}\n`)
  else call.io.out(toTable([['NAME', 'EMAIL', 'STATE', 'GROUPS', 'LAST LOGIN'], toRow(found)]))
}

async function setState(call: Call, name: string, state: string, done: string): Promise<void> {
  const path = pathOf(call, `/${encodeURIComponent(name)}/status`)
  const body = JSON.stringify({ status: { state } })
  tell(
    call,
    parseJson(await call.platform.call('cannot change the user', path, { method: 'PUT', body })),
    `user ${name} is ${done}`,
  )
}

/** A lock is no lasting decision; what an administrator has disabled is not enabled by it. */
async function unlock(call: Call, name: string): Promise<void> {
  const path = pathOf(call, `/${encodeURIComponent(name)}`)
  const { status } = parseJson(await call.platform.call('cannot read the user', path))
  if (Object(status).state === 'Disabled')
    throw new Error(`user ${name} is disabled and not locked; \`kapis user enable ${name}\` would enable`)
  await setState(call, name, 'Active', 'unlocked')
}

async function setPassword(call: Call, name: string): Promise<void> {
  const { platform, values, io } = call
  const ask = createPrompt(io)
  const currentPassword = values.own ? await ask('Current password: ') : undefined
  const password = await ask(`New password of ${name}: `)
  const path = pathOf(call, `/${encodeURIComponent(name)}/password`)
  const body = JSON.stringify({ currentPassword, password })
  const answer = await platform.call('cannot set the password', path, { method: 'PUT', body })
  tell(call, parseJson(answer), `user ${name} has another password; every login has ended`)
}

async function remove(call: Call, name: string): Promise<void> {
  const path = pathOf(call, `/${encodeURIComponent(name)}`)
  const answer = await call.platform.call('cannot remove the user', path, { method: 'DELETE' })
  tell(call, parseJson(answer), `user ${name} was removed`)
}

function tell({ values, io }: Call, answer: Member, done: string): void {
  if (values.output === 'json') io.out(`${JSON.stringify(answer, null, 2)}\n`)
  else io.err(`${done}\n`)
}

function toRow({ metadata, spec, status }: Member): readonly string[] {
  const { groups } = Object(spec)
  const { state, lastLoginTime } = Object(status)
  return [
    String(Object(metadata).name ?? ''),
    String(Object(spec).email ?? ''),
    String(state ?? 'Active'),
    Array.isArray(groups) ? groups.join(',') : '',
    String(lastLoginTime ?? ''),
  ]
}
