import { InterruptedError, type Io, UsageError } from './command.ts'
import { commands, type Entry } from './commands.ts'
import { complete } from './completion/complete.ts'
import { optionsOf, replaceFormerOptions } from './usage-options.ts'

// Exit codes that shells use for a command that a signal has ended.
const exitCodes: Readonly<Record<string, number>> = { SIGINT: 130, SIGTERM: 143 }

/** Runs a command. @returns the exit code: 0; 1 failure; 2 usage; 130 or 143 after a signal */
export async function dispatch(argv: readonly string[], io: Io): Promise<number> {
  const [name = 'help', ...args] = argv
  if (name === '--version' || name === 'version') {
    io.out(`kapis ${io.version}\n`)
    return 0
  }
  if (name === 'help' || name === '--help' || name === '-h') return help(args[0], io)
  if (name === '__complete') {
    io.out(await complete(args, io))
    return 0
  }
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (entry === undefined) return unknown(name, io)
  if (args.includes('--help') || args.includes('-h')) return help(name, io)
  try {
    const command = await entry.load()
    return await command.run(replaceFormerOptions(args, command.usage, io.err), io)
  } catch (error) {
    if (io.signal.aborted || error instanceof InterruptedError) {
      io.err(`kapis ${name}: interrupted\n`)
      return exitCodes[String(io.signal.reason)] ?? 130
    }
    io.err(`kapis ${name}: ${await toMessage(error, entry)}\n`)
    if (!isUsage(error)) return 1
    io.err(`Run \`kapis help ${name}\` for its usage.\n`)
    return 2
  }
}

function unknown(name: string, io: Io): number {
  io.err(`kapis: unknown command ${JSON.stringify(name)}; run \`kapis help\` for a list\n`)
  return 2
}

/** Reports whether an error is from parseArgs of node:util, by its code. */
function isUsage(error: unknown): boolean {
  if (error instanceof UsageError) return true
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_')
}

/**
 * Returns the message of an error. The text of parseArgs for an unknown option is replaced, since
 * it suggests other causes and does not list the options.
 */
async function toMessage(error: unknown, { load }: Entry): Promise<string> {
  if (!(error instanceof Error)) return String(error)
  const [, option] = /^Unknown option '(--?[^']*)'/.exec(error.message) ?? []
  if (option === undefined || !isUsage(error)) return error.message
  const { usage } = await load()
  const names = optionsOf(usage).map(({ name }) => name)
  return `unknown option ${option}; supported: ${[...new Set([...names, '--help'])].join(', ')}`
}

async function help(name: string | undefined, io: Io): Promise<number> {
  if (name === undefined) {
    const width = Math.max(...Object.keys(commands).map(({ length }) => length))
    const lines = Object.entries(commands).map(([key, { summary }]) => `  ${key.padEnd(width)}  ${summary}`)
    io.out(
      `usage: kapis COMMAND [OPTION]…\n\n${lines.join('\n')}\n\nRun \`kapis help COMMAND\` for its options and examples.\n`,
    )
    return 0
  }
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (entry === undefined) return unknown(name, io)
  const { usage, examples } = await entry.load()
  io.out(`usage: kapis ${name} ${usage.trim()}\n\nExamples:\n${examples.replace(/^\n|\n$/g, '')}\n`)
  return 0
}
