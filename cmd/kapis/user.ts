import { type Command, UsageError } from './command.ts'
import { loginNames } from './login/names.ts'
import { assertOutput } from './options.ts'
import { connectPlatform, findGroupDomain } from './session/platform.ts'
import { serverUsage } from './session/server.ts'
import { type Call, parseUserArgs } from './user/call.ts'
import { get, list } from './user/show.ts'
import { create, remove, setPassword, setState, unlock } from './user/write.ts'

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

  create NAME            create a user; the password is asked for, or piped in
  list                   all users, or those of a group (--group)
  get NAME               one of them
  disable NAME           refuse logins, and end those that there are
  enable NAME            allow logins again
  unlock NAME            end the lock after too many wrong passwords
  set-password NAME      a new password, asked for twice, or piped in; every login ends
  delete NAME            delete the user

${serverUsage}  --email ADDRESS        of a new user (required)
  --display-name TEXT, --lang TAG
  --group NAME           of a new user (may be repeated), or of the users that list shows
  --must-change-password the new user has to choose another password at the first login
  --no-password          the new user has none, and logs in by an identity provider
  --own                  set-password of yourself: the current one is asked for first (piped in: on a line before it)
  --output FORMAT, -o    json
`,
  examples: `
  kapis user create alice --email alice@example.org --group dev --must-change-password
  kapis user list --group dev
  kapis user set-password alice
  kapis user set-password alice --own            # your own, with the current one
  kapis user disable alice
  printf '%s\\n' "$PASSWORD" | kapis user create ci --email ci@example.org
`,
  complete: words => (words.length === 0 ? Object.keys(actions) : []),
  values: { '--context': loginNames, '--output': () => ['json'] },
  async run(args, io) {
    const { values, positionals } = parseUserArgs(args)
    assertOutput(values.output)
    const [action = '', name = '', ...more] = positionals
    const chosen = Object.hasOwn(actions, action) ? actions[action] : undefined
    if (chosen === undefined)
      throw new UsageError(
        `${action === '' ? 'missing action' : `unknown action ${JSON.stringify(action)}`}; supported: ${Object.keys(actions).join(', ')}`,
      )
    if (chosen.takesName !== (name !== '') || more.length > 0)
      throw new UsageError(chosen.takesName ? `${action} needs one NAME` : `${action} takes no NAME`)
    const platform = await connectPlatform(values, io)
    const domain = await findGroupDomain(platform, io)
    await chosen.run({ platform, domain, values, io }, name)
    return 0
  },
}
