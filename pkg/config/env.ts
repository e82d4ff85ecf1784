import { document } from './config.ts'
import { optionsOf } from './option-list.ts'

export type Variable = { readonly name: string; readonly path: string }

/** Returns the environment variables that override options of the configuration file. */
export function variables(): readonly Variable[] {
  return optionsOf(document).flatMap(({ path, env }) => (env === undefined ? [] : [{ name: env, path }]))
}

/**
 * Applies environment variables to a parsed configuration file: a non-empty variable takes
 * precedence. Invalid paths are left for parseConfig to report.
 */
export function withEnvironment(file: unknown, env: Readonly<Record<string, string | undefined>>): unknown {
  let result: unknown = file ?? {}
  for (const { name, path } of variables()) {
    const value = env[name]
    if (value !== undefined && value !== '') result = withMember(result, path.split('.'), value)
  }
  return result
}

function withMember(target: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value
  if (typeof target !== 'object' || target === null || Array.isArray(target)) return target
  const members: Record<string, unknown> = { ...target }
  members[key] = withMember(members[key] ?? {}, rest, value)
  return members
}
