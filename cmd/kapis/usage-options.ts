import { UsageError } from './command.ts'

/** An option in the usage text of a command. */
export type Option = {
  readonly name: string
  /** The short option, such as -o; '' without one. */
  readonly short: string
  /** The placeholder of the value, such as FILE; '' without a value. */
  readonly value: string
}

const option = /(?<![\w-])(--[a-z][a-z-]*)(?: ([A-Za-z][\w:[\]]*)(?=,| {2}|$))?(?:, (-[a-z])\b)?/g

/** Parses the options of a usage text: lines that begin with two spaces and `--`. */
export function optionsOf(usage: string): readonly Option[] {
  const lines = usage.split('\n').filter(line => line.startsWith('  --'))
  return lines.flatMap(line => {
    const [head = ''] = line.trimStart().split(/ {2,}/)
    return [...head.matchAll(option)].map(([, name = '', value = '', short = '']) => ({ name, value, short }))
  })
}

/** Former options and what replaces them in the commands that do not have them any more. */
const formerOptions: ReadonlyMap<string, string> = new Map([
  ['--ca', '--certificate-authority'],
  ['--expires-in', '--duration'],
  ['--for', '--duration'],
  ['--group', '--as-group'],
  ['--user', '--as'],
  ['--write', '--dry-run=none'],
])

/** Replaces former options of a command with this usage text, and warns of them like kubectl. */
export function replaceFormerOptions(
  args: readonly string[],
  usage: string,
  warn: (text: string) => void,
): readonly string[] {
  const names = new Set(optionsOf(usage).map(({ name }) => name))
  const end = args.includes('--') ? args.indexOf('--') : args.length
  const replaced = args.slice(0, end).map(arg => {
    const [, name = '', value = ''] = /^(--[^=]+)(=.*)?$/s.exec(arg) ?? []
    const option = formerOptions.get(name)
    if (option === undefined || names.has(name) || !names.has(option.replace(/=.*/, ''))) return arg
    warn(`Warning: ${name} is deprecated, use ${option}\n`)
    return `${option}${value}`
  })
  return [...replaced, ...args.slice(end)]
}

/** Rejects options with an empty value, as of an unset shell variable. @throws UsageError */
export function assertNotEmpty(
  values: Readonly<Record<string, unknown>>,
  names: readonly string[] = Object.keys(values),
): void {
  for (const name of names)
    if (values[name] === '') throw new UsageError(`invalid --${name} "": expected a value`)
}

export const namespaceOptions = {
  namespace: { type: 'string', short: 'n', default: '' },
  'all-namespaces': { type: 'boolean', short: 'A', default: false },
} as const

/** @throws UsageError for both one namespace and all of them */
export function assertOneNamespace(values: {
  readonly namespace: string
  readonly 'all-namespaces': boolean
}): void {
  if (values['all-namespaces'] && values.namespace !== '')
    throw new UsageError('--namespace and --all-namespaces are mutually exclusive')
}

/** Rejects an unsupported output format. '' and `text` are text for humans. @throws UsageError */
export function assertOutput(value: string): void {
  if (value !== '' && value !== 'text' && value !== 'json')
    throw new UsageError(`invalid --output ${JSON.stringify(value)}; supported: text, json`)
}

/** Parses `ACTION [ARGUMENT]`. @param actions what each takes (`a NAME`, '') @throws UsageError */
export function readAction<Action extends string>(
  positionals: readonly string[],
  actions: Readonly<Record<Action, string>>,
): { readonly action: Action; readonly argument: string } {
  const [requested, argument = '', ...more] = positionals
  const action = actionsOf(actions).find(name => name === requested)
  if (action === undefined) {
    const what = requested === undefined ? 'missing action' : `unknown action ${JSON.stringify(requested)}`
    throw new UsageError(`${what}; supported: ${actionsOf(actions).join(', ')}`)
  }
  const takes = actions[action]
  const [unexpected] = takes === '' && argument !== '' ? [argument] : more
  if (unexpected !== undefined) throw new UsageError(`unexpected argument ${JSON.stringify(unexpected)}`)
  if (takes !== '' && argument === '') throw new UsageError(`${action} needs ${takes}`)
  return { action, argument }
}

export function actionsOf<Action extends string>(
  actions: Readonly<Record<Action, string>>,
): readonly Action[] {
  return Object.keys(actions).filter((name): name is Action => name in actions)
}
