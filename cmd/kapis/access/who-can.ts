import { parseArgs } from 'node:util'
import type { Command } from '../command.ts'
import {
  connectPlatform,
  itemsOf,
  platformOptions,
  platformOptionValues,
} from '../session/platform-client.ts'
import { printable } from '../session/printable.ts'
import { serverUsage } from '../session/server-address.ts'
import { toTable } from '../session/table.ts'
import { createReview, refText, ruleText } from './create-review.ts'
import { accessOptions, accessUsage, readAttributes, readPositionals, verbs } from './resource-argument.ts'

export const whoCan: Command = {
  usage: `VERB RESOURCE [NAME] [OPTION]…

Lists the users, groups and service accounts that may make a request, with the binding, role and rule that allow it. Requires
permission to list roles and bindings.

${serverUsage}${accessUsage}  --output FORMAT, -o    json: the status of the WhoCan
`,
  examples: `
  kapis who-can delete pods -n shop
  kapis who-can get pods web-0 --subresource log -n shop
  kapis who-can list secrets                     # in all namespaces
  kapis who-can get /metrics
`,
  complete: words => (words.length === 0 ? verbs : []),
  values: platformOptionValues,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { ...platformOptions, ...accessOptions },
    })
    readPositionals(positionals)
    const platform = await connectPlatform(values, io)
    const spec = await readAttributes(platform, { ...values, positionals }, io.err)
    const status = await createReview(platform, { plural: 'whocans', kind: 'WhoCan', spec })
    platform.show(status, () => {
      const rows = itemsOf(status.subjects).flatMap(subject => {
        const name = [subject.namespace, subject.name].filter(part => part !== undefined).join('/')
        const grants = itemsOf(subject.grants)
        const cells = grants.map(({ binding, role, rule }) => [
          refText(binding),
          refText(role),
          ruleText(rule),
        ])
        return (cells.length > 0 ? cells : [['', '', '']]).map(more => [String(subject.kind), name, ...more])
      })
      io.out(toTable([['KIND', 'NAME', 'BINDING', 'ROLE', 'RULE'], ...rows]))
      for (const note of Array.isArray(status.notes) ? status.notes : [])
        io.err(`${printable(`Note: ${note}`)}\n`)
      if (status.incomplete === true)
        io.err(`${printable(`Incomplete: ${String(status.evaluationError)}`)}\n`)
    })
    return 0
  },
}
