import { type Io, UsageError } from './command.ts'
import { commands, type Entry } from './commands.ts'

/** Finds the subcommand and runs it. @returns the exit code: 0, 1 when it failed, 2 when it was called wrongly */
export async function dispatch(argv: readonly string[], io: Io & { version: string }): Promise<number> {
  const [name = 'help', ...args] = argv
  if (name === '--version' || name === 'version') {
    io.out(`kapis ${io.version}\n`)
    return 0
  }
  if (name === 'help' || name === '--help' || name === '-h') return help(args[0], io)
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (entry === undefined) {
    io.err(`kapis: unknown command ${JSON.stringify(name)}; \`kapis help\` lists them\n`)
    return 2
  }
  if (args.includes('--help') || args.includes('-h')) return help(name, io)
  try {
    const command = await entry.load()
    return await command.run(args, io)
  } catch (error) {
    const message = await toMessage(error, entry)
    if (!isUsage(error)) {
      io.err(`kapis ${name}: ${message}\n`)
      return 1
    }
    io.err(`kapis ${name}: ${message}\n\`kapis help ${name}\` tells how it is called\n`)
    return 2
  }
}

/** parseArgs of node:util names its own mistakes by code. */
function isUsage(error: unknown): boolean {
  if (error instanceof UsageError) return true
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_')
}

/** What parseArgs says of an option that there is not goes on about others' mistakes, and names none that there is. */
async function toMessage(error: unknown, { load }: Entry): Promise<string> {
  if (!(error instanceof Error)) return String(error)
  const [, option] = /^Unknown option '(--?[^']*)'/.exec(error.message) ?? []
  if (option === undefined || !isUsage(error)) return error.message
  const { usage } = await load()
  const options = [...usage.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)].map(([name]) => name)
  return `${option}: unknown; allowed are ${[...new Set([...options, '--help'])].join(', ')}`
}

async function help(name: string | undefined, io: Io): Promise<number> {
  if (name === undefined) {
    const width = Math.max(...Object.keys(commands).map(({ length }) => length))
    const lines = Object.entries(commands).map(([key, { summary }]) => `  ${key.padEnd(width)}  ${summary}`)
    io.out(
      `usage: kapis COMMAND [OPTION]…\n\n${lines.join('\n')}\n\n\`kapis help COMMAND\` tells more of one of them.\n`,
    )
    return 0
  }
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (entry === undefined) {
    io.err(`kapis: unknown command ${JSON.stringify(name)}; \`kapis help\` lists them\n`)
    return 2
  }
  const { usage } = await entry.load()
  io.out(`usage: kapis ${name} ${usage.trim()}\n`)
  return 0
}
