import type { z } from 'zod'
import { memberAt } from './option-list.ts'

/** An error in a configuration: the path of the option, and what is allowed. */
export type Problem = { readonly path: string; readonly message: string }

export class ConfigError extends Error {
  readonly problems: readonly Problem[]
  constructor(problems: readonly Problem[]) {
    super(`invalid configuration:\n${problems.map(p => `  ${p.path}: ${p.message}`).join('\n')}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** Converts the issues of a schema. Messages contain no values that could be secrets. */
export function toProblems(schema: z.ZodType, { issues }: z.ZodError): readonly Problem[] {
  return issues.flatMap(({ path, message, ...issue }) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map(key => ({ path: toPath([...path, key]), message: unknownMember(schema, path) }))
      : [{ path: toPath(path) || '(document)', message }],
  )
}

function unknownMember(schema: z.ZodType, path: readonly PropertyKey[]): string {
  const members = memberAt(schema, path)
  return `unknown; supported: ${Object.keys(members ?? {}).join(', ')}`
}

function toPath(path: readonly PropertyKey[]): string {
  return path
    .map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i === 0 ? '' : '.'}${String(key)}`))
    .join('')
}
