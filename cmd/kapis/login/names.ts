import type { Io } from '../command.ts'
import { listLogins } from '../session/login-store.ts'

/** Returns the names of the stored logins, for shell completion. */
export function loginNames({ env }: Io): readonly string[] {
  return [...new Set(listLogins(env).map(({ name }) => name))]
}
