import type { Io } from '../command.ts'
import { listLogins, readCurrent } from '../session/login-store.ts'
import { toTable } from '../session/table.ts'

/** Prints the stored logins, without their tokens. */
export function list(output: string, { env, out, err }: Io): void {
  const current = readCurrent(env)
  const logins = listLogins(env).map(({ name, username, url, expiresAtMs }) => ({
    name,
    user: username,
    server: url,
    tokenExpires: new Date(expiresAtMs).toISOString().replace(/\.\d+Z$/, 'Z'),
    isCurrent: current?.url === url && current.name === name,
  }))
  if (output === 'json') out(`${JSON.stringify(logins, null, 2)}\n`)
  else if (logins.length === 0) err('No logins: run `kapis login --server URL`.\n')
  else {
    const rows = logins.map(each => [
      each.isCurrent ? '*' : '',
      each.name,
      each.user,
      each.server,
      each.tokenExpires,
    ])
    out(toTable([['CURRENT', 'NAME', 'USER', 'SERVER', 'TOKEN EXPIRES'], ...rows]))
  }
}
