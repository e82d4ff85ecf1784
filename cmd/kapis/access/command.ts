import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { type Command, UsageError } from '../command.ts'
import { loginNames } from '../login/names.ts'
import { connectPlatform, findGroupDomain } from '../session/platform-client.ts'
import { serverOptions, serverUsage } from '../session/server-address.ts'
import { toSeconds } from '../token.ts'
import { assertOutput } from '../usage-options.ts'
import { type AccessCall, type Decision, decide, listRequests, requestAccess } from './access-requests.ts'

const decisions: Readonly<Record<string, Decision>> = {
  approve: 'Approved',
  deny: 'Denied',
  revoke: 'Revoked',
}
const actions = ['request', 'list', ...Object.keys(decisions)]

/** As in the definition of AccessRequest. */
const mostSeconds = 12 * 3600

export const access: Command = {
  usage: `request GROUP --reason TEXT | list | approve NAME | deny NAME | revoke NAME [OPTION]…

Time-bound access: a user requests a group until a time, and someone who may impersonate that group approves it. The time counts
from the request. A decision is final, but what was approved can be revoked; the user may revoke their own.

${serverUsage}  --reason TEXT          request: why, in one line
  --for TIME             request: how long, such as 30m or 8h (1h); at most 12h
  --output FORMAT, -o    json
`,
  examples: `
  kapis access request ops --for 2h --reason "INC-42: disk of node-3 is full"
  kapis access list
  kapis access approve access-1f0c2a9b4d
  kapis access revoke access-1f0c2a9b4d
`,
  complete: words => (words.length === 0 ? actions : []),
  values: { '--context': loginNames, '--output': () => ['json'] },
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...serverOptions,
        reason: { type: 'string', default: '' },
        for: { type: 'string', default: '1h' },
        output: { type: 'string', short: 'o', default: '' },
      },
    })
    assertOutput(values.output)
    const [action = '', subject = '', ...more] = positionals
    if (more.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(more[0])}`)
    if (!actions.includes(action)) {
      const what = action === '' ? 'missing action' : `unknown action ${JSON.stringify(action)}`
      throw new UsageError(`${what}; supported: ${actions.join(', ')}`)
    }
    const what = action === 'request' ? 'a GROUP' : 'a NAME'
    if (action === 'list' ? subject !== '' : subject === '')
      throw new UsageError(
        action === 'list' ? `unexpected argument ${JSON.stringify(subject)}` : `${action} needs ${what}`,
      )
    const seconds = toSeconds(values.for, '--for')
    if (seconds < 1 || seconds > mostSeconds)
      throw new UsageError(`invalid --for ${JSON.stringify(values.for)}: expected 1s to 12h`)
    const reason = values.reason.trim()
    if (action === 'request' && reason === '') throw new UsageError('request needs --reason')
    const platform = await connectPlatform(values, io)
    const domain = await findGroupDomain(platform, io)
    const call: AccessCall = { platform, domain, isJson: values.output === 'json', io }
    if (action === 'list') return listRequests(call)
    const decision = decisions[action]
    if (decision !== undefined) return decide(call, subject, decision)
    const name = `access-${randomBytes(5).toString('hex')}`
    return requestAccess(call, { name, group: subject, seconds, reason })
  },
}
