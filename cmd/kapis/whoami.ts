import { parseArgs } from 'node:util'
import type { Command } from './command.ts'
import { connectPlatform, platformOptions, platformOptionValues, whoAmI } from './session/platform-client.ts'
import { printable } from './session/printable.ts'
import { serverUsage } from './session/server-address.ts'

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
  values: platformOptionValues,
  async run(args, io) {
    const { values } = parseArgs({ args: [...args], options: platformOptions })
    const platform = await connectPlatform(values, io)
    const userInfo = await whoAmI(platform)
    platform.show(userInfo, () => {
      const { username, groups } = userInfo
      const names = Array.isArray(groups) ? groups.join(', ') : ''
      io.out(`${printable(String(username))}\n  groups: ${printable(names)}\n  server: ${platform.url}\n`)
    })
    return 0
  },
}
