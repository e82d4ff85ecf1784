import { parseArgs } from 'node:util'
import type { Command } from './command.ts'
import { findServer } from './session/find-server.ts'
import { parseJson } from './session/http.ts'
import { connectPlatform } from './session/platform.ts'
import { serverOptions, serverUsage } from './session/server.ts'

export const whoami: Command = {
  usage: `[OPTION]…

Says who is logged in, as the orchestrator knows it.

${serverUsage}  --output json, -o      the UserInfo as JSON
`,
  async run(args, io) {
    const { values } = parseArgs({
      args: [...args],
      options: { ...serverOptions, output: { type: 'string', short: 'o', default: '' } },
    })
    const server = findServer(values, io)
    const platform = await connectPlatform(server, io)
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const answer = await platform.call('cannot ask who I am', path, {
      method: 'POST',
      body: JSON.stringify(review),
    })
    const { userInfo } = Object(parseJson(answer).status)
    const { username, groups } = Object(userInfo)
    if (values.output === 'json') io.out(`${JSON.stringify(userInfo, null, 2)}\n`)
    else
      io.out(
        `${String(username)}\n  groups: ${Array.isArray(groups) ? groups.join(', ') : ''}\n  server: ${server.url}\n`,
      )
    return 0
  },
}
