import type { Command, Io } from '../command.ts'
import { commands } from '../commands.ts'
import { type Option, optionsOf } from '../usage-options.ts'

// The completion script then completes file names.
const files = ':files\n'
const fileValues = new Set(['FILE', 'FOLDER'])

/**
 * Returns the possible completions of the last word, one per line, with a tab before the
 * description; `:files` completes file names.
 *
 * @param words the words after `kapis`, including the one under the cursor, which may be ''
 */
export async function complete(words: readonly string[], io: Io): Promise<string> {
  const [name = '', ...rest] = words
  if (words.length <= 1) {
    const all = Object.entries(commands).map(([key, { summary }]) => `${key}\t${summary}`)
    return toLines([...all, 'help\tshow the usage of a command', 'version\tshow the version'], name)
  }
  if (name === 'help') return toLines(rest.length === 1 ? Object.keys(commands) : [], rest[0] ?? '')
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined
  return entry === undefined ? '' : completeArguments(await entry.load(), rest, io)
}

function completeArguments(command: Command, words: readonly string[], io: Io): string {
  const options = optionsOf(command.usage)
  const last = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const pending = options.find(option => option.value !== '' && isNamed(option, before.at(-1)))
  if (pending !== undefined) {
    const values = command.values?.[pending.name]
    if (values !== undefined) return toLines(values(io), last)
    return fileValues.has(pending.value) ? files : ''
  }
  if (last.startsWith('-')) return toLines([...options.map(({ name }) => name), '--help'], last)
  const found = command.complete?.(positionals(before, options), io) ?? (command.complete ? undefined : [])
  return found === undefined ? files : toLines(found, last)
}

function isNamed({ name, short }: Option, word: string | undefined): boolean {
  return word === name || (word === short && short !== '')
}

function positionals(words: readonly string[], options: readonly Option[]): readonly string[] {
  const takesValue = (word: string | undefined) =>
    options.some(option => option.value !== '' && isNamed(option, word))
  return words.filter((word, i) => !word.startsWith('-') && !takesValue(words[i - 1]))
}

function toLines(candidates: readonly string[], start: string): string {
  return candidates
    .filter(candidate => candidate.startsWith(start))
    .map(candidate => `${candidate}\n`)
    .join('')
}
