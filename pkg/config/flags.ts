import { environment } from './env.ts'

/** What both programs are called with, or what they are to print instead of running. */
export type Call =
  | { readonly print: string }
  | {
      readonly print?: undefined
      readonly configFile: string | undefined
      readonly logLevel: string | undefined
    }

/** The program was called wrongly: nothing of its configuration was looked at. */
export class FlagError extends Error {}

const takingValues = { '--config': 'FILE', '--log-level': 'LEVEL' } as const
type TakingValue = keyof typeof takingValues
const allowed = [
  ...Object.entries(takingValues).map(([flag, value]) => `${flag} ${value}`),
  '--help',
  '--version',
].join(', ')

/**
 * Reads the flags of a program as those of Kubernetes are read: `--flag value` or `--flag=value`, the last one wins.
 *
 * @throws FlagError that names what is allowed
 */
export function readFlags(
  argv: readonly string[],
  program: { readonly name: string; readonly summary: string; readonly version: string },
): Call {
  const values: Partial<Record<TakingValue, string>> = {}
  for (let i = 0; i < argv.length; i++) {
    const [flag = '', ...rest] = (argv[i] ?? '').split('=')
    if (flag === '--help' || flag === '-h') return { print: helpOf(program) }
    if (flag === '--version') return { print: `${program.name} ${program.version}\n` }
    if (!isTakingValue(flag)) throw new FlagError(`${flag}: unknown; allowed are ${allowed}`)
    const value = rest.length > 0 ? rest.join('=') : argv[++i]
    if (!value) throw new FlagError(`${flag}: needs a value: ${flag} ${takingValues[flag]}`)
    values[flag] = value
  }
  return { configFile: values['--config'], logLevel: values['--log-level'] }
}

function isTakingValue(flag: string): flag is TakingValue {
  return Object.hasOwn(takingValues, flag)
}

function helpOf({ name, summary }: { readonly name: string; readonly summary: string }): string {
  const width = Math.max(...environment.map(variable => variable.name.length))
  const variables = environment.map(variable => `  ${variable.name.padEnd(width)}  ${variable.path}`)
  return `usage: ${name} [OPTION]…

${summary}

  --config FILE      the configuration, YAML or JSON; docs/config.md has every member
  --log-level LEVEL  debug, info, warn or error: instead of logLevel of the file and KAPIS_LOG_LEVEL
  --help, -h         print this
  --version          print the version

Environment variables win over members of the file:

${variables.join('\n')}

Ends with 0 after SIGTERM or SIGINT, with 1 when the configuration is wrong or the program cannot go on, with 2 when it was
called wrongly.
`
}
