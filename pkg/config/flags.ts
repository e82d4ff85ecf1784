import { variables } from './env.ts'

/** The result of parsing the command line, or the text to print instead of running. */
export type Call =
  | { readonly print: string }
  | {
      readonly print?: undefined
      readonly configFile: string | undefined
      /** Values of flags, by environment variable. */
      readonly flags: Readonly<Record<string, string>>
    }

export type Program = {
  readonly name: string
  readonly summary: string
  readonly version: string
  /** Whether the program has a port. */
  readonly listens: boolean
}

/** Invalid usage, reported before the configuration is read. */
export class FlagError extends Error {}

type Flag = {
  readonly names: readonly string[]
  readonly value: string
  readonly variable: string
  readonly is: string
  readonly ofListener?: true
  /** Converts the value of the flag to that of the variable; undefined if it is invalid. */
  readonly toVariable?: (value: string) => string | undefined
}

const configFile = 'configFile'
const flags: readonly Flag[] = [
  {
    names: ['--config'],
    value: 'FILE',
    variable: configFile,
    is: 'the configuration, YAML or JSON; docs/config.md lists all fields',
  },
  {
    names: ['--kubeconfig'],
    value: 'FILE',
    variable: 'KAPIS_KUBECONFIG',
    is: 'the kubeconfig, when not running in a Pod',
  },
  {
    names: ['--bind-address'],
    value: 'IP',
    variable: 'KAPIS_LISTEN_ADDRESS',
    is: 'address of the HTTPS listener',
    ofListener: true,
  },
  {
    names: ['--secure-port'],
    value: 'PORT',
    variable: 'KAPIS_LISTEN_PORT',
    is: 'port of the HTTPS listener',
    ofListener: true,
  },
  { names: ['--log-level'], value: 'LEVEL', variable: 'KAPIS_LOG_LEVEL', is: 'debug, info, warn or error' },
  {
    names: ['-v', '--v'],
    value: 'NUMBER',
    variable: 'KAPIS_LOG_LEVEL',
    is: 'log verbosity of Kubernetes components: 4 and higher is debug, lower is info',
    toVariable: value => (/^\d{1,3}$/.test(value) ? (Number(value) >= 4 ? 'debug' : 'info') : undefined),
  },
]

/**
 * Parses flags like Kubernetes components: `--flag value` or `--flag=value`. The last of repeated
 * flags counts.
 *
 * @throws FlagError with the supported flags
 */
export function readFlags(argv: readonly string[], program: Program): Call {
  const known = flags.filter(flag => program.listens || flag.ofListener !== true)
  const values: Record<string, string> = {}
  for (let i = 0; i < argv.length; i++) {
    // The short flag `-v4` contains its value.
    const [name = '', ...rest] = (argv[i] ?? '').replace(/^-v(?=\d)/, '-v=').split('=')
    if (name === '--help' || name === '-h') return { print: helpOf(program, known) }
    if (name === '--version') return { print: `${program.name} ${program.version}\n` }
    const flag = known.find(({ names }) => names.includes(name))
    if (flag === undefined) throw new FlagError(`${name}: unknown; supported: ${describeFlags(known)}`)
    const argument = rest.length > 0 ? rest.join('=') : argv[++i]
    if (!argument) throw new FlagError(`flag needs an argument: ${name} ${flag.value}`)
    const value = flag.toVariable === undefined ? argument : flag.toVariable(argument)
    if (value === undefined) throw new FlagError(`${name} ${argument}: must be a ${flag.value.toLowerCase()}`)
    values[flag.variable] = value
  }
  const { [configFile]: file, ...rest } = values
  return { configFile: file, flags: rest }
}

function describeFlags(known: readonly Flag[]): string {
  return [...known.map(({ names, value }) => `${names.join(', ')} ${value}`), '--help', '--version'].join(
    ', ',
  )
}

function helpOf({ name, summary }: Program, known: readonly Flag[]): string {
  const rows = [
    ...known.map(({ names, value, is }) => [`${names.join(', ')} ${value}`, is]),
    ['--help, -h', 'print this help'],
    ['--version', 'print the version'],
  ]
  return `usage: ${name} [OPTION]…

${summary}

${table(rows)}

Flags take precedence over environment variables, and these over fields of the file:

${table(variables().map(({ name: variable, path }) => [variable, path]))}

Exit code 0: stopped by SIGTERM or SIGINT; 1: invalid configuration or fatal error; 2: wrong usage.
`
}

function table(rows: readonly (readonly string[])[]): string {
  const width = Math.max(...rows.map(([first = '']) => first.length))
  return rows.map(([first = '', second]) => `  ${first.padEnd(width)}  ${second}`).join('\n')
}
