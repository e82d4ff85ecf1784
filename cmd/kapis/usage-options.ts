import { UsageError } from './command.ts'

/** An option as the usage of a command lists it. */
export type Option = {
  readonly name: string
  /** For example -o; '' if there is none. */
  readonly short: string
  /** For example FILE; '' if the option has no value. */
  readonly value: string
}

const option = /(?<![\w-])(--[a-z][a-z-]*)(?: ([A-Za-z][\w:[\]]*)(?=,| {2}|$))?(?:, (-[a-z])\b)?/g

/** Reads the options of a usage text: lines that begin with two blanks and `--`. */
export function optionsOf(usage: string): readonly Option[] {
  const lines = usage.split('\n').filter(line => line.startsWith('  --'))
  return lines.flatMap(line => {
    const [head = ''] = line.trimStart().split(/ {2,}/)
    return [...head.matchAll(option)].map(([, name = '', value = '', short = '']) => ({ name, value, short }))
  })
}

/**
 * Rejects options with an empty value, as from an unset shell variable.
 *
 * @throws UsageError
 */
export function assertNotEmpty(values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(values))
    if (value === '') throw new UsageError(`invalid --${name} "": expected a value`)
}

/**
 * Rejects an unsupported format of --output; '' and `text` are text for humans.
 *
 * @throws UsageError
 */
export function assertOutput(value: string): void {
  if (value !== '' && value !== 'text' && value !== 'json')
    throw new UsageError(`invalid --output ${JSON.stringify(value)}; supported: text, json`)
}
