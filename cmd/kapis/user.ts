import { type Command, UsageError } from './command.ts'
import { findServer } from './session/find-server.ts'
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
    const { values, positionals } = parseUserArgs(args)
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
