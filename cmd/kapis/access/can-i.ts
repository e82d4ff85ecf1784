import { parseArgs } from 'node:util'
import type { Command } from '../command.ts'
import {
  connectPlatform,
  itemsOf,
  type Members,
  platformOptions,
  platformOptionValues,
} from '../session/platform-client.ts'
import { printable } from '../session/printable.ts'
import { serverUsage } from '../session/server-address.ts'
import { createReview, refText, ruleText } from './create-review.ts'
import { accessOptions, accessUsage, readAttributes, readPositionals, verbs } from './resource-argument.ts'

export const canI: Command = {
  usage: `VERB RESOURCE [NAME] [OPTION]…

Prints yes if kube-apiserver allows a request of yours, or of another user; otherwise prints no and exits with 1.

${serverUsage}${accessUsage}  --why                  also print the bindings that allow the request, or the closest bindings and the missing rule
  --as NAME              check another user (requires permission to list roles and bindings)
  --as-group NAME        a group of that user (may be repeated)
  --output FORMAT, -o    json: the status of the ExplainAccess
`,
  examples: `
  kapis can-i delete pods -n shop --why
  kapis can-i get deployments.apps web -n shop
  kapis can-i list secrets --as system:serviceaccount:shop:ci --why
`,
  complete: words => (words.length === 0 ? verbs : []),
  values: platformOptionValues,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...platformOptions,
        ...accessOptions,
        why: { type: 'boolean', default: false },
        as: { type: 'string', default: '' },
        'as-group': { type: 'string', multiple: true, default: [] },
      },
    })
    readPositionals(positionals)
    const platform = await connectPlatform(values, io)
    const attributes = await readAttributes(platform, { ...values, positionals }, io.err)
    const subject = { user: values.as, groups: values['as-group'] }
    const status = await createReview(platform, {
      plural: 'explainaccesses',
      kind: 'ExplainAccess',
      spec: { ...subject, ...attributes },
    })
    platform.show(status, () => {
      const reasons = values.why ? reasonsOf(status) : []
      const lines = [status.allowed === true ? 'yes' : 'no', ...reasons]
      io.out(lines.map(line => `${printable(line)}\n`).join(''))
    })
    return status.allowed === true ? 0 : 1
  },
}

/** Returns the reasons of a review as lines, each indented by two spaces. */
export function reasonsOf(status: Members): readonly string[] {
  const grants = itemsOf(status.grants).map(
    ({ binding, role, rule }) => `  ${refText(binding)} gives ${refText(role)}: ${ruleText(rule)}`,
  )
  const nearest = itemsOf(status.nearest).map(({ binding, role, missing }) => {
    const gaps = Array.isArray(missing) ? missing.join('; ') : ''
    return `  ${refText(binding)} gives ${refText(role)}, but ${gaps}`
  })
  const rule = status.missingRule === undefined ? [] : [`  missing rule: ${ruleText(status.missingRule)}`]
  const roles = itemsOf(status.rolesThatAllow).map(refText)
  const would = roles.length === 0 ? [] : [`  roles that would allow it: ${roles.join(', ')}`]
  const incomplete = status.incomplete === true ? [`  incomplete: ${String(status.evaluationError)}`] : []
  return [...grants, ...nearest, ...rule, ...would, ...incomplete]
}
