import type { Limits } from './limits.ts'
import { parseValue } from './numbers.ts'
import type { Tokens } from './parse/tokenizer.ts'

export type MathExpression =
  | { readonly kind: 'number'; readonly value: number; readonly text: string }
  | { readonly kind: 'field'; readonly field: string }
  | { readonly kind: 'negative'; readonly operand: MathExpression }
  | {
      readonly kind: 'operator'
      readonly operator: string
      readonly left: MathExpression
      readonly right: MathExpression
    }
  | { readonly kind: 'function'; readonly name: string; readonly operands: readonly MathExpression[] }

type Operator = { readonly level: number; readonly apply: (a: number, b: number) => number }

/** Operators of a lower level bind tighter; those of the same level are left-associative. */
const operators: Readonly<Record<string, Operator>> = {
  '^': { level: 1, apply: (a, b) => a ** b },
  '*': { level: 2, apply: (a, b) => a * b },
  '/': { level: 2, apply: (a, b) => a / b },
  // Integers have no negative zero.
  '%': { level: 2, apply: (a, b) => (Number.isInteger(a) ? (a % b) + 0 : a % b) },
  '+': { level: 3, apply: (a, b) => a + b },
  '-': { level: 3, apply: (a, b) => a - b },
  '&': { level: 4, apply: onBits((a, b) => a & b) },
  xor: { level: 5, apply: onBits((a, b) => a ^ b) },
  or: { level: 6, apply: onBits((a, b) => a | b) },
  default: { level: 10, apply: (a, b) => (Number.isNaN(a) ? b : a) },
}
const loosest = 10

type MathFunction = {
  /** Minimum and maximum number of operands. */
  readonly least: number
  readonly most: number
  readonly call: (...operands: readonly number[]) => number
}

const withOne = (call: (operand: number) => number): MathFunction => ({
  ...{ least: 1, most: 1 },
  call: (operand = Number.NaN) => call(operand),
})

/** A function that returns the operand that is better than all others; ignores NaN. */
const withBest = (isBetter: (a: number, b: number) => boolean): MathFunction => ({
  ...{ least: 2, most: 100 },
  call: (...operands) =>
    operands.reduce(
      (best, value) => (Number.isNaN(best) || isBetter(value, best) ? value : best),
      Number.NaN,
    ),
})

const functions: Readonly<Record<string, MathFunction>> = {
  abs: withOne(Math.abs),
  ceil: withOne(Math.ceil),
  exp: withOne(Math.exp),
  floor: withOne(Math.floor),
  ln: withOne(Math.log),
  max: withBest((a, b) => a > b),
  min: withBest((a, b) => a < b),
  now: { least: 0, most: 0, call: () => Date.now() * 1e6 },
  rand: { least: 0, most: 0, call: Math.random },
  round: {
    ...{ least: 1, most: 2 },
    call: (value = Number.NaN, nearest) =>
      nearest === undefined ? roundHalfAway(value) : roundTo(value, nearest),
  },
}

const stops = ['+', '-', '/']

/** Parses an expression of operators that bind as tightly as a level. @throws Status 400 */
export function parseMath(tokens: Tokens, limits: Limits, level = loosest): MathExpression {
  if (level === 0) return parseOperand(tokens, limits)
  let left = parseMath(tokens, limits, level - 1)
  for (;;) {
    const operator = tokens.current.text.toLowerCase()
    if (tokens.current.isQuoted || operators[operator]?.level !== level) return left
    limits.countTerm(tokens)
    tokens.advance()
    left = { kind: 'operator', operator, left, right: parseMath(tokens, limits, level - 1) }
  }
}

function parseOperand(tokens: Tokens, limits: Limits): MathExpression {
  return limits.nested(tokens, () => {
    if (tokens.take('(')) {
      const inner = parseMath(tokens, limits)
      tokens.expect(')')
      return inner
    }
    if (tokens.take('-')) return { kind: 'negative', operand: parseOperand(tokens, limits) }
    if (tokens.take('+')) return parseOperand(tokens, limits)
    const { text, isQuoted } = tokens.current
    const name = text.toLowerCase()
    if (!isQuoted && Object.hasOwn(functions, name) && tokens.next.raw === '(')
      return parseCall(tokens, limits, name)
    if (/^(?:\.?\d|inf$)/i.test(text)) return parseConstant(tokens)
    return { kind: 'field', field: tokens.text('a field, a number or a function', stops) }
  })
}

function parseConstant(tokens: Tokens): MathExpression {
  const { current } = tokens
  const text = tokens.text('a number', stops)
  const value = parseValue(text)
  if (Number.isNaN(value)) {
    throw tokens.error(`invalid number ${JSON.stringify(text)} before this; put fields in quotes`)
  }
  return { kind: 'number', value, text: current.isQuoted ? current.raw : text }
}

function parseCall(tokens: Tokens, limits: Limits, name: string): MathExpression {
  tokens.advance()
  tokens.expect('(')
  const operands: MathExpression[] = []
  while (!tokens.take(')')) {
    operands.push(parseMath(tokens, limits))
    if (!tokens.is(')')) tokens.expect(',')
  }
  const { least = 0, most = 0 } = functions[name] ?? {}
  if (operands.length < least || operands.length > most) {
    const range = least === most ? String(least) : `${least} to ${most}`
    throw tokens.error(`${name}() requires ${range} arguments, not ${operands.length}`)
  }
  return { kind: 'function', name, operands }
}

/** Formats an expression, to name a result that has no name in the query. */
export function formatMath(expression: MathExpression): string {
  switch (expression.kind) {
    case 'number':
      return expression.text
    case 'field':
      return expression.field
    case 'negative':
      return `-${inParentheses(expression.operand, 0)}`
    case 'operator': {
      const level = operators[expression.operator]?.level ?? 0
      const [left, right] = [
        inParentheses(expression.left, level),
        inParentheses(expression.right, level - 1),
      ]
      return `${left} ${expression.operator} ${right}`
    }
    case 'function':
      return `${expression.name}(${expression.operands.map(formatMath).join(', ')})`
  }
}

function inParentheses(expression: MathExpression, most: number): string {
  const text = formatMath(expression)
  return expression.kind === 'operator' && (operators[expression.operator]?.level ?? 0) > most
    ? `(${text})`
    : text
}

/** Evaluates an expression. @param read returns the value of a field, or '' if it is missing */
export function evaluate(expression: MathExpression, read: (field: string) => string): number {
  switch (expression.kind) {
    case 'number':
      return expression.value
    case 'field':
      return parseValue(read(expression.field))
    case 'negative':
      return -evaluate(expression.operand, read)
    case 'operator': {
      const [left, right] = [evaluate(expression.left, read), evaluate(expression.right, read)]
      return operators[expression.operator]?.apply(left, right) ?? Number.NaN
    }
    case 'function': {
      const operands = expression.operands.map(operand => evaluate(operand, read))
      return functions[expression.name]?.call(...operands) ?? Number.NaN
    }
  }
}

/** Returns an operator on unsigned integers of 64 bits. */
function onBits(apply: (a: bigint, b: bigint) => bigint): Operator['apply'] {
  const toBits = (value: number) => BigInt.asUintN(64, BigInt(Math.trunc(value)))
  return (a, b) =>
    Number.isFinite(a) && Number.isFinite(b) ? Number(apply(toBits(a), toBits(b))) : Number.NaN
}

/** Rounds half away from zero. Math.round rounds -0.5 up. */
function roundHalfAway(value: number): number {
  return value < 0 ? -Math.round(-value) : Math.round(value)
}

function roundTo(value: number, nearest: number): number {
  // Scales both to integers by a power of ten: no rounding errors of decimals such as 0.1.
  const decimals = /\.(\d+)$/.exec(String(nearest))?.[1]?.length ?? 0
  const power = 10 ** decimals
  const step = Math.round(nearest * power)
  const rounded = value + (Math.sign(value) * Math.abs(nearest)) / 2
  return (Math.trunc(rounded * power) - (Math.trunc(rounded * power) % step)) / power
}
