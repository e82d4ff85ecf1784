import { type Command, UsageError } from '../command.ts'
import { connectPlatform, itemsOf, type Members, platformOptionValues } from '../session/platform-client.ts'
import { serverUsage } from '../session/server-address.ts'
import { toTable } from '../session/table.ts'
import { actionsOf, readAction } from '../usage-options.ts'
import { type Call, parseUserArgs, pathOf } from './call.ts'
import { create, remove, resetFactors, setPassword, setState, unlock } from './write.ts'

type Run = (call: Call, name: string) => Promise<void>

const runs = {
  create,
  list,
  get,
  disable: (call, name) => setState(call, name, 'Disabled', 'disabled; all their logins have ended'),
  enable: (call, name) => setState(call, name, 'Active', 'enabled'),
  unlock,
  'set-password': setPassword,
  'reset-factors': resetFactors,
  delete: remove,
} as const satisfies Readonly<Record<string, Run>>
const named = 'a NAME'
const actions = {
  ...{ create: named, list: '', get: named, disable: named, enable: named, unlock: named },
  ...{ 'set-password': named, 'reset-factors': named, delete: named },
} as const satisfies Readonly<Record<keyof typeof runs, string>>

export const user: Command = {
  usage: `ACTION [NAME] [OPTION]…

  create NAME            create a user; the password is prompted for, or read from stdin
  list                   list all users, or those of a group (--group)
  get NAME               show a user
  disable NAME           reject new logins, and end the existing ones
  enable NAME            allow logins again
  unlock NAME            remove the lock that too many wrong passwords caused
  set-password NAME      set a new password (prompted for twice, or read from stdin) and end all logins
  reset-factors NAME     remove the second factors of a user who has lost them, and end all logins
  delete NAME            delete the user

${serverUsage}  --email ADDRESS        e-mail address of a new user (required)
  --display-name TEXT    display name of a new user
  --lang TAG             language of a new user, such as en
  --group NAME           group of a new user (may be repeated), or filter for list
  --must-change-password the new user must change the password at the first login
  --no-password          no password: the new user logs in with an identity provider
  --own                  set-password: set your own; the current password is prompted for, or the first line of stdin
  --output FORMAT, -o    json
`,
  examples: `
  kapis user create alice --email alice@example.org --group dev --must-change-password
  kapis user list --group dev
  kapis user set-password alice
  kapis user set-password alice --own            # your own password
  kapis user disable alice
  kapis user reset-factors alice                 # the phone is lost
  printf '%s\\n' "$PASSWORD" | kapis user create ci --email ci@example.org
`,
  complete: words => (words.length === 0 ? actionsOf(actions) : []),
  values: platformOptionValues,
  async run(args, io) {
    const { values, positionals } = parseUserArgs(args)
    const { action, argument } = readAction(positionals, actions)
    const platform = await connectPlatform(values, io)
    await runs[action]({ platform, domain: await platform.groupDomain(), values, io }, argument)
    return 0
  },
}

async function list(call: Call): Promise<void> {
  const { platform, values, io } = call
  const query = new URLSearchParams({ sortBy: 'name', ascending: 'true' })
  const [group, ...others] = values.group
  if (others.length > 0) throw new UsageError('list takes one --group')
  if (group !== undefined) query.set('ingroup', group)
  const users = itemsOf((await platform.call('list the users', pathOf(call, `?${query}`))).items)
  platform.show(users, () => io.out(toTable([head, ...users.map(toRow)])))
}

async function get(call: Call, name: string): Promise<void> {
  const { platform, io } = call
  const found = await platform.call('read the user', pathOf(call, `/${encodeURIComponent(name)}`))
  platform.show(found, () => io.out(toTable([head, toRow(found)])))
}

const head = ['NAME', 'EMAIL', 'STATE', 'GROUPS', 'LAST LOGIN']

function toRow({ metadata, spec, status }: Members): readonly string[] {
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
