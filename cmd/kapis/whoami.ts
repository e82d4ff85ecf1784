import { parseArgs } from 'node:util'
import type { Command } from './command.ts'
import { loginNames } from './login/names.ts'
import { parseJson } from './session/http.ts'
import { connectPlatform } from './session/platform-client.ts'
import { printable } from './session/printable.ts'
import { serverOptions, serverUsage } from './session/server-address.ts'
import { assertOutput } from './usage-options.ts'

export const whoami: Command = {
  usage: `[OPTION]…

Shows the user as kube-apiserver sees it (SelfSubjectReview). If KAPIS_TOKEN is set, it is used instead of the login.

${serverUsage}  --output FORMAT, -o    json: the UserInfo of Kubernetes
`,
  examples: `
  kapis whoami
  kapis whoami --context admin
  KAPIS_TOKEN=$TOKEN kapis whoami --server https://kapis.example.org -o json
`,
  complete: () => [],
  values: { '--context': loginNames, '--output': () => ['json'] },
  async run(args, io) {
    const { values } = parseArgs({
      args: [...args],
      options: { ...serverOptions, output: { type: 'string', short: 'o', default: '' } },
    })
    assertOutput(values.output)
    const platform = await connectPlatform(values, io)
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const answer = await platform.call('get the user', path, {
      method: 'POST',
      body: JSON.stringify(review),
    })
    const { userInfo } = Object(parseJson(answer).status)
    const { username, groups } = Object(userInfo)
    if (values.output === 'json') io.out(`${JSON.stringify(userInfo, null, 2)}\n`)
    else {
      const names = Array.isArray(groups) ? groups.join(', ') : ''
      io.out(`${printable(String(username))}\n  groups: ${printable(names)}\n  server: ${platform.url}\n`)
    }
    return 0
  },
}
