import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Argument,
  type CallExpression,
  type Expression,
  type ObjectExpression,
  parseSync,
} from '@swc/core'
import { repository } from './controlplane/settings.ts'

const declarers: ReadonlyMap<string, string> = new Map([
  ['counter', 'counter'],
  ['hotCounter', 'counter'],
  ['hotCounterOfPairs', 'counter'],
  ['gauge', 'gauge'],
  ['histogram', 'histogram'],
])
const levels: ReadonlySet<string> = new Set(['debug', 'info', 'warn', 'error'])

type TelemetryNames = { readonly metrics: readonly string[]; readonly messages: readonly string[] }

/** Renders docs/metrics.md from the calls that create metrics. */
export function renderMetrics(): string {
  return `# Metrics

<!-- Made by \`make update\` from the code; \`make verify\` checks it. -->

kapis-apiserver serves its metrics at \`/metrics\`, and those of kapis-oauth at \`/metrics/oauth\`. Both have the process metrics of prom-client
too (\`process_*\`, \`nodejs_*\`). A metric that is in both programs counts what each of them did. [Operations](operations.md#metrics) says which
metric to look at for which symptom, and [runbooks](runbooks.md) what to do about alerts.

| metric | type | labels | description |
|---|---|---|---|
${findAll().metrics.join('\n')}
`
}

/** Renders docs/log-messages.md from the calls of loggers. */
export function renderMessages(): string {
  return `# Log messages

<!-- Made by \`make update\` from the code; \`make verify\` checks it. -->

kapis-apiserver and kapis-oauth write one JSON object per line to standard error, with \`level\`, \`time\`, \`program\` and \`msg\`. \`err\` is an
error with its cause. Field names are stable, messages may change in any release ([releases](releases.md)). \`<…>\` stands for a name.
Requests are logged at \`info\` if \`accessLog\` is true, otherwise at \`debug\`.

| message | level | fields |
|---|---|---|
${findAll().messages.join('\n')}
`
}

function findAll(): TelemetryNames {
  const metrics = new Set<string>()
  const messages = new Map<string, Set<string>>()
  const sources = globSync('{pkg,cmd/apiserver,cmd/oauth}/**/*.ts', { cwd: repository })
  for (const path of sources.filter(name => !/(\.test|fixtures|test-suite)\.ts$/.test(name)).sort()) {
    const text = readFileSync(join(repository, path), 'utf8')
    const calls = callsOf(parseSync(text, { syntax: 'typescript', target: 'es2024' }))
    for (const call of calls) {
      const metric = toMetric(call, text)
      if (metric !== undefined) metrics.add(metric)
      for (const { key, fields } of toMessages(call))
        messages.set(key, new Set([...(messages.get(key) ?? []), ...fields]))
    }
  }
  const rows = [...messages].map(([key, fields]) => row([...key.split('|'), [...fields].join(', ')]))
  return { metrics: [...metrics].sort(), messages: rows.sort((a, b) => a.localeCompare(b)) }
}

function callsOf(node: unknown): CallExpression[] {
  if (Array.isArray(node)) return node.flatMap(callsOf)
  if (typeof node !== 'object' || node === null) return []
  const below = Object.values(node).flatMap(callsOf)
  return isCall(node) ? [node, ...below] : below
}

function isCall(node: object): node is CallExpression {
  return 'type' in node && node.type === 'CallExpression'
}

/** Returns the metric that a call creates. @throws Error for an unknown function */
function toMetric({ callee, arguments: args }: CallExpression, text: string): string | undefined {
  const expression = args[1]?.expression
  if (callee.type !== 'Identifier' || expression?.type !== 'ObjectExpression') return undefined
  const name = textOf(fieldOf(expression, 'name'))
  const help = textOf(fieldOf(expression, 'help'))
  if (name === undefined || help === undefined) return undefined
  const type = declarers.get(callee.value)
  if (type === undefined) throw new Error(`${name} is declared with the unknown function ${callee.value}`)
  const labels = fieldOf(expression, 'labels')
  return row([`\`${name}\``, type, labels === undefined ? '' : labelsOf(labels, text).join(', '), help])
}

/** Returns the strings of an array, or of the constant array with this name. */
function labelsOf(labels: Expression, text: string): readonly string[] {
  if (labels.type === 'ArrayExpression')
    return labels.elements.map(element => `\`${textOf(element?.expression) ?? '?'}\``)
  const constant = /const labels = \[(.*)\] as const/.exec(text)?.[1] ?? ''
  const all = constant.split(', ').map(label => `\`${label.slice(1, -1)}\``)
  return labels.type === 'CallExpression' ? all.slice(0, -1) : all
}

type Message = { readonly key: string; readonly fields: readonly string[] }

/** Returns the messages of a call, as `message|level`: two if the argument is a conditional. */
function toMessages({ callee, arguments: args }: CallExpression): readonly Message[] {
  const member = callee.type === 'OptionalChainingExpression' ? callee.base : callee
  if (member.type !== 'MemberExpression' || member.property.type !== 'Identifier') return []
  const level = member.property.value
  if (!levels.has(level) || !/logger$/i.test(nameOf(member.object))) return []
  const [first, second] = args
  const fields = first?.expression.type === 'ObjectExpression' ? namesOf(first.expression) : []
  return choicesOf(second ?? first).map(message => ({ key: `${message}|${level}`, fields }))
}

function choicesOf(argument: Argument | undefined): readonly string[] {
  const expression = argument?.expression
  const choices =
    expression?.type === 'ConditionalExpression'
      ? [expression.consequent, expression.alternate]
      : [expression]
  return choices.map(textOf).filter(text => text !== undefined)
}

function nameOf(node: Expression | { type: 'Super' } | { type: 'Import' }): string {
  if (node.type === 'Identifier') return node.value
  if (node.type !== 'MemberExpression') return ''
  const { property } = node
  return property.type === 'Identifier' || property.type === 'PrivateName' ? namePart(property) : ''
}

function namePart(property: { value: string } | { id: { value: string } } | object): string {
  if ('value' in property) return String(property.value)
  return 'id' in property && typeof property.id === 'object' && property.id !== null && 'value' in property.id
    ? String(property.id.value)
    : ''
}

function namesOf(object: ObjectExpression): readonly string[] {
  return object.properties.flatMap(property => {
    if (property.type === 'Identifier') return [`\`${property.value}\``]
    if (property.type === 'KeyValueProperty' && property.key.type === 'Identifier')
      return [`\`${property.key.value}\``]
    return property.type === 'SpreadElement' ? ['…'] : []
  })
}

function fieldOf(object: ObjectExpression, name: string): Expression | undefined {
  for (const property of object.properties) {
    if (property.type === 'KeyValueProperty' && 'value' in property.key && property.key.value === name)
      return property.value
    if (property.type === 'Identifier' && property.value === name) return property
  }
  return undefined
}

/** Returns a string, or a template with `<…>` for its expressions. */
function textOf(node: Expression | undefined): string | undefined {
  if (node?.type === 'StringLiteral') return node.value
  return node?.type === 'TemplateLiteral'
    ? node.quasis.map(({ cooked }) => cooked ?? '').join('<…>')
    : undefined
}

function row(cells: readonly string[]): string {
  return `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
