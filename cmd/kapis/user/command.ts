import { type Command, UsageError } from '../command.ts'
import { loginNames } from '../login/names.ts'
import { connectPlatform, findGroupDomain } from '../session/platform-client.ts'
import { serverUsage } from '../session/server-address.ts'
import { assertOutput } from '../usage-options.ts'
import { type Call, parseUserArgs } from './call.ts'
import { get, list } from './show.ts'
import { create, remove, resetFactors, setPassword, setState, unlock } from './write.ts'

const actions: Readonly<
  Record<string, { takesName: boolean; run: (call: Call, name: string) => Promise<void> }>
> = {
  create: { takesName: true, run: create },
  list: { takesName: false, run: list },
  get: { takesName: true, run: get },
  disable: {
    takesName: true,
    run: (call, name) => setState(call, name, 'Disabled', 'disabled; all their logins have ended'),
  },
  enable: { takesName: true, run: (call, name) => setState(call, name, 'Active', 'enabled') },
  unlock: { takesName: true, run: unlock },
  'set-password': { takesName: true, run: setPassword },
  'reset-factors': { takesName: true, run: resetFactors },
  delete: { takesName: true, run: remove },
}

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
  --display-name TEXT, --lang TAG
  --group NAME           group of a new user (may be repeated), or filter for list
  --must-change-password the new user must change the password at the first login
  --no-password          no password: the new user logs in with an identity provider
  --own                  set-password: your own, with your current password (prompted for, or the first line of stdin)
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
