import { parseArgs } from 'node:util'
import { type Command, UsageError } from './command.ts'
import { findServer } from './session/find-server.ts'
import { parseJson } from './session/http.ts'
import { connectPlatform } from './session/platform.ts'
import { serverOptions, serverUsage } from './session/server.ts'
import { toTable } from './session/table.ts'

const path = '/oauth/personal-access-tokens'
const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

export const token: Command = {
  usage: `create NAME | list | delete ID [OPTION]…

Personal access tokens: for scripts, with the rights of their owner or to read alone. A new one is printed once.

${serverUsage}  --scope SCOPE          full or read (default: full)
  --expires-in TIME      such as 12h or 30d (default: what the platform gives)
  --output json, -o      the answer as JSON
`,
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
    const [action, subject, ...more] = positionals
    if (more.length > 0) throw new UsageError(`${more[0]}: one thing at a time`)
    const needed = (what: string) => {
      if (subject === undefined || subject === '') throw new UsageError(`${action} needs ${what}`)
      return subject
    }
    const connect = () => connectPlatform(findServer(values, io), io)
    if (action === 'create') {
      const life = values['expires-in']
      const body = {
        name: needed('a NAME'),
        ...(values.scope === undefined ? {} : { scope: values.scope }),
        ...(life === undefined ? {} : { expiresInSeconds: toSeconds(life) }),
      }
      const platform = await connect()
      const answer = await platform.call('cannot make the token', path, {
        method: 'POST',
        body: JSON.stringify(body),
      })
      const made = parseJson(answer)
      if (values.output === 'json') io.out(`${JSON.stringify(made, null, 2)}\n`)
      else {
        io.out(`${String(made.token)}\n`)
        io.err(
          `It is good until ${String(made.expiresAt)}, and is not shown again; its ID is ${String(made.id)}.\n`,
        )
      }
      return 0
    }
    if (action === 'list') {
      const platform = await connect()
      const { items } = parseJson(await platform.call('cannot list the tokens', path))
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
      await platform.call('cannot end the token', `${path}/${encodeURIComponent(id)}`, { method: 'DELETE' })
      io.err(`The token ${id} has ended.\n`)
      return 0
    }
    throw new UsageError(
      action === undefined ? 'create, list or delete?' : `${action}: create, list or delete?`,
    )
  },
}

/** @throws UsageError */
export function toSeconds(text: string): number {
  const [, number, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  if (number === undefined) throw new UsageError(`--expires-in ${text}: must be a time such as 12h or 30d`)
  return Number(number) * (units[unit] ?? 1)
}
