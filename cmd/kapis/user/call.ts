import { parseArgs } from 'node:util'
import type { Io } from '../command.ts'
import type { Platform } from '../session/platform-client.ts'
import { serverOptions } from '../session/server-address.ts'

const options = {
  ...serverOptions,
  email: { type: 'string' },
  'display-name': { type: 'string' },
  lang: { type: 'string' },
  group: { type: 'string', multiple: true, default: [] as string[] },
  'must-change-password': { type: 'boolean', default: false },
  'no-password': { type: 'boolean', default: false },
  own: { type: 'boolean', default: false },
  output: { type: 'string', short: 'o', default: '' },
} as const

type Values = ReturnType<typeof parseUserArgs>['values']
/** The parameters of an action. */
export type Call = {
  readonly platform: Platform
  readonly domain: string
  readonly values: Values
  readonly io: Io
}
/** An object in a response of the platform. */
export type Member = Readonly<Record<string, unknown>>

export function parseUserArgs(args: readonly string[]) {
  return parseArgs({ args: [...args], allowPositionals: true, options })
}

/** Returns the path of users, of a user or of a subresource. */
export function pathOf({ domain }: Call, rest = ''): string {
  return `/kapis/iam.${domain}/v1alpha2/users${rest}`
}

/** Prints a text for humans, or the response for programs. */
export function tell({ values, io }: Call, answer: Member, done: string): void {
  if (values.output === 'json') io.out(`${JSON.stringify(answer, null, 2)}\n`)
  else io.err(`${done}\n`)
}
