import { parseArgs } from 'node:util'
import type { Io } from '../command.ts'
import { type Members, type Platform, platformOptions } from '../session/platform-client.ts'

const options = {
  ...platformOptions,
  email: { type: 'string' },
  'display-name': { type: 'string' },
  lang: { type: 'string' },
  group: { type: 'string', multiple: true, default: [] as string[] },
  'must-change-password': { type: 'boolean', default: false },
  'no-password': { type: 'boolean', default: false },
  own: { type: 'boolean', default: false },
} as const

type Values = ReturnType<typeof parseUserArgs>['values']
/** The parameters of an action. */
export type Call = {
  readonly platform: Platform
  readonly domain: string
  readonly values: Values
  readonly io: Io
}
export function parseUserArgs(args: readonly string[]) {
  return parseArgs({ args: [...args], allowPositionals: true, options })
}

/** Returns the path of users, of a user or of a subresource. */
export function pathOf({ domain }: Call, rest = ''): string {
  return `/kapis/iam.${domain}/v1alpha2/users${rest}`
}

/** Prints a text for humans, or the response for programs. */
export function printResult({ platform, io }: Call, response: Members, done: string): void {
  platform.show(response, () => io.err(`${done}\n`))
}
