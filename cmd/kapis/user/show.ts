import { UsageError } from '../command.ts'
import { parseJson } from '../session/http.ts'
import { toTable } from '../session/table.ts'
import { type Call, type Member, pathOf } from './call.ts'

export async function list(call: Call): Promise<void> {
  const { platform, values, io } = call
  const query = new URLSearchParams({ sortBy: 'name', ascending: 'true' })
  const [group, ...others] = values.group
  if (others.length > 0) throw new UsageError('list takes one --group')
  if (group !== undefined) query.set('ingroup', group)
  const { items } = parseJson(await platform.call('list the users', pathOf(call, `?${query}`)))
  const users: readonly Member[] = Array.isArray(items) ? items.map(Object) : []
  if (values.output === 'json') io.out(`${JSON.stringify(users, null, 2)}\n`)
  else io.out(toTable([['NAME', 'EMAIL', 'STATE', 'GROUPS', 'LAST LOGIN'], ...users.map(toRow)]))
}

export async function get(call: Call, name: string): Promise<void> {
  const found = parseJson(
    await call.platform.call('read the user', pathOf(call, `/${encodeURIComponent(name)}`)),
  )
  if (call.values.output === 'json') call.io.out(`${JSON.stringify(found, null, 2)}\n`)
  else call.io.out(toTable([['NAME', 'EMAIL', 'STATE', 'GROUPS', 'LAST LOGIN'], toRow(found)]))
}

function toRow({ metadata, spec, status }: Member): readonly string[] {
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
