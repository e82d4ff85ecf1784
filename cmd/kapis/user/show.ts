import { UsageError } from '../command.ts'
import { itemsOf, type Members } from '../session/platform-client.ts'
import { toTable } from '../session/table.ts'
import { type Call, pathOf } from './call.ts'

export async function list(call: Call): Promise<void> {
  const { platform, values, io } = call
  const query = new URLSearchParams({ sortBy: 'name', ascending: 'true' })
  const [group, ...others] = values.group
  if (others.length > 0) throw new UsageError('list takes one --group')
  if (group !== undefined) query.set('ingroup', group)
  const users = itemsOf((await platform.call('list the users', pathOf(call, `?${query}`))).items)
  platform.show(users, () => io.out(toTable([head, ...users.map(toRow)])))
}

export async function get(call: Call, name: string): Promise<void> {
  const { platform, io } = call
  const found = await platform.call('read the user', pathOf(call, `/${encodeURIComponent(name)}`))
  platform.show(found, () => io.out(toTable([head, toRow(found)])))
}

const head = ['NAME', 'EMAIL', 'STATE', 'GROUPS', 'LAST LOGIN']

function toRow({ metadata, spec, status }: Members): readonly string[] {
  const { groups } = Object(spec)
  const { state, lastLoginTime } = Object(status)
  return [
    String(Object(metadata).name ?? ''),
    String(Object(spec).email ?? ''),
    String(state ?? 'Active'),
    Array.isArray(groups) ? groups.join(',') : '',
    String(lastLoginTime ?? ''),
  ]
}
