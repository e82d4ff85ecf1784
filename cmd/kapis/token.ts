import { parseArgs } from 'node:util'
import { type Command, UsageError } from './command.ts'
import { loginNames } from './login/names.ts'
import { parseJson } from './session/http.ts'
import { connectPlatform } from './session/platform-client.ts'
import { serverOptions, serverUsage } from './session/server-address.ts'
import { toTable } from './session/table.ts'
import { assertOutput } from './usage-options.ts'

const actions = ['create', 'list', 'delete']
const path = '/oauth/personal-access-tokens'
const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

export const token: Command = {
  usage: `create NAME | list | delete ID [OPTION]…

Manages personal access tokens for scripts: with all rights of their owner, or read-only. A new token is printed once.

${serverUsage}  --scope SCOPE          full or read (full)
  --expires-in TIME      such as 12h or 30d (the longest time that the platform allows)
  --output FORMAT, -o    json
`,
  examples: `
  kapis token create ci --scope read --expires-in 30d
  TOKEN=$(kapis token create backup)
  kapis token list
  kapis token delete 6b1c4f0a
`,
  complete: words => (words.length === 0 ? actions : []),
  values: { '--context': loginNames, '--output': () => ['json'], '--scope': () => ['full', 'read'] },
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...serverOptions,
        scope: { type: 'string' },
        'expires-in': { type: 'string' },
        output: { type: 'string', short: 'o', default: '' },
      },
    })
    assertOutput(values.output)
    const [action, subject, ...more] = positionals
    if (more.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(more[0])}`)
    const needed = (what: string) => {
      if (subject === undefined || subject === '') throw new UsageError(`${action} needs ${what}`)
      return subject
    }
    const connect = () => connectPlatform(values, io)
    if (action === 'create') {
      const life = values['expires-in']
      const body = {
        name: needed('a NAME'),
        ...(values.scope === undefined ? {} : { scope: values.scope }),
        ...(life === undefined ? {} : { expiresInSeconds: toSeconds(life) }),
      }
      const platform = await connect()
      const answer = await platform.call('create the token', path, {
        method: 'POST',
        body: JSON.stringify(body),
      })
      const made = parseJson(answer)
      if (values.output === 'json') io.out(`${JSON.stringify(made, null, 2)}\n`)
      else {
        io.out(`${String(made.token)}\n`)
        io.err(
          `The token is valid until ${String(made.expiresAt)} and is not shown again. Its ID is ${String(made.id)}.\n`,
        )
      }
      return 0
    }
    if (action === 'list') {
      const platform = await connect()
      const { items } = parseJson(await platform.call('list the tokens', path))
      const found: readonly Readonly<Record<string, unknown>>[] = Array.isArray(items)
        ? items.map(Object)
        : []
      if (values.output === 'json') io.out(`${JSON.stringify(found, null, 2)}\n`)
      else {
        const rows = found.map(each =>
          [each.id, each.name, each.scope, each.createdAt, each.expiresAt].map(text => String(text ?? '')),
        )
        io.out(toTable([['ID', 'NAME', 'SCOPE', 'CREATED', 'EXPIRES'], ...rows]))
      }
      return 0
    }
    if (action === 'delete') {
      const id = needed('an ID')
      const platform = await connect()
      await platform.call('delete the token', `${path}/${encodeURIComponent(id)}`, { method: 'DELETE' })
      io.err(`Deleted the token ${id}.\n`)
      return 0
    }
    const what = action === undefined ? 'missing action' : `unknown action ${JSON.stringify(action)}`
    throw new UsageError(`${what}; supported: ${actions.join(', ')}`)
  },
}

/** @throws UsageError */
export function toSeconds(text: string, option = '--expires-in'): number {
  const [, number, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  if (number === undefined)
    throw new UsageError(`invalid ${option} ${JSON.stringify(text)}: expected a time such as 12h or 30d`)
  return Number(number) * (units[unit] ?? 1)
}
