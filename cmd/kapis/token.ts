import { parseArgs } from 'node:util'
import { type Command, UsageError } from './command.ts'
import { connectPlatform, itemsOf, platformOptions, platformOptionValues } from './session/platform-client.ts'
import { serverUsage } from './session/server-address.ts'
import { toTable } from './session/table.ts'
import { actionsOf, readAction } from './usage-options.ts'

const actions = { create: 'a NAME', list: '', delete: 'an ID' } as const
const path = '/oauth/personal-access-tokens'
const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

export const token: Command = {
  usage: `create NAME | list | delete ID [OPTION]…

Manages personal access tokens for scripts.

  create NAME            create a token and print it; it is not shown again
  list                   list your tokens
  delete ID              delete a token, which becomes invalid

${serverUsage}  --scope SCOPE          full: all permissions of its owner; read: read-only (full)
  --duration TIME        lifetime, such as 12h or 30d (the maximum that the platform allows)
  --output FORMAT, -o    json
`,
  examples: `
  kapis token create ci --scope read --duration 30d
  TOKEN=$(kapis token create backup)
  kapis token list
  kapis token delete 6b1c4f0a
`,
  complete: words => (words.length === 0 ? actionsOf(actions) : []),
  values: { ...platformOptionValues, '--scope': () => ['full', 'read'] },
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...platformOptions,
        scope: { type: 'string' },
        duration: { type: 'string' },
      },
    })
    const { action, argument } = readAction(positionals, actions)
    const life = values.duration
    const body = {
      name: argument,
      ...(values.scope === undefined ? {} : { scope: values.scope }),
      ...(life === undefined ? {} : { expiresInSeconds: toSeconds(life) }),
    }
    const platform = await connectPlatform(values, io)
    if (action === 'create') {
      const made = await platform.call('create the token', path, { method: 'POST', body })
      platform.show(made, () => {
        io.out(`${String(made.token)}\n`)
        io.err(
          `The token is valid until ${String(made.expiresAt)} and is not shown again. Its ID is ${String(made.id)}.\n`,
        )
      })
    } else if (action === 'list') {
      const found = itemsOf((await platform.call('list the tokens', path)).items)
      platform.show(found, () => {
        const rows = found.map(each =>
          [each.id, each.name, each.scope, each.createdAt, each.expiresAt].map(text => String(text ?? '')),
        )
        io.out(toTable([['ID', 'NAME', 'SCOPE', 'CREATED', 'EXPIRES'], ...rows]))
      })
    } else {
      await platform.text('delete the token', `${path}/${encodeURIComponent(argument)}`, { method: 'DELETE' })
      io.err(`Deleted the token ${argument}.\n`)
    }
    return 0
  },
}

/** Parses the value of --duration: a duration of Go in whole seconds, or days. @throws UsageError */
export function toSeconds(text: string): number {
  if (!/^(\d{1,9}[smhd])+$/.test(text))
    throw new UsageError(`invalid --duration ${JSON.stringify(text)}: expected a time such as 12h or 30d`)
  const parts = text.matchAll(/(\d+)([smhd])/g)
  return [...parts].reduce((sum, [, number, unit = '']) => sum + Number(number) * (units[unit] ?? 1), 0)
}
