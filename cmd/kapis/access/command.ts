import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { type Command, UsageError } from '../command.ts'
import { connectPlatform, platformOptions, platformOptionValues } from '../session/platform-client.ts'
import { serverUsage } from '../session/server-address.ts'
import { toSeconds } from '../token.ts'
import { actionsOf, readAction } from '../usage-options.ts'
import { decide, listRequests, requestAccess } from './access-requests.ts'

const actions = { request: 'a GROUP', list: '', approve: 'a NAME', deny: 'a NAME', revoke: 'a NAME' } as const
const decisions = { approve: 'Approved', deny: 'Denied', revoke: 'Revoked' } as const
/** The maximum in the CustomResourceDefinition of AccessRequest. */
const maxSeconds = 12 * 3600

export const access: Command = {
  usage: `request GROUP --reason TEXT | list | approve NAME | deny NAME | revoke NAME [OPTION]…

Time-bound access: a user requests membership in a group for a limited time, and a user who may impersonate the group approves it.
Decisions are final, but an approved request can be revoked.

  request GROUP          request membership in a group; the time begins now
  list                   list the requests
  approve NAME           approve a request
  deny NAME              deny a request
  revoke NAME            end the access of an approved request; users may revoke their own requests

${serverUsage}  --reason TEXT          request: the reason, in one line (required)
  --duration TIME        request: duration, such as 30m or 8h, at most 12h (1h)
  --output FORMAT, -o    json
`,
  examples: `
  kapis access request ops --duration 2h --reason "INC-42: disk of node-3 is full"
  kapis access list
  kapis access approve access-1f0c2a9b4d
  kapis access revoke access-1f0c2a9b4d
`,
  complete: words => (words.length === 0 ? actionsOf(actions) : []),
  values: platformOptionValues,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...platformOptions,
        reason: { type: 'string', default: '' },
        duration: { type: 'string', default: '1h' },
      },
    })
    const { action, argument } = readAction(positionals, actions)
    const seconds = toSeconds(values.duration)
    if (seconds < 1 || seconds > maxSeconds)
      throw new UsageError(`invalid --duration ${JSON.stringify(values.duration)}: expected 1s to 12h`)
    const reason = values.reason.trim()
    if (action === 'request' && reason === '') throw new UsageError('request needs --reason')
    const call = { platform: await connectPlatform(values, io), io }
    if (action === 'list') await listRequests(call)
    else if (action !== 'request') await decide(call, argument, decisions[action])
    else {
      const name = `access-${randomBytes(5).toString('hex')}`
      await requestAccess(call, { name, group: argument, seconds, reason })
    }
    return 0
  },
}
