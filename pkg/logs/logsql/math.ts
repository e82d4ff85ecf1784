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

// Precedence: lower numbers bind tighter; operators of one number are left-associative.
const operators: Readonly<Record<string, number>> = {
  '^': 1,
  '*': 2,
  '/': 2,
  '%': 2,
  '+': 3,
  '-': 3,
  '&': 4,
  xor: 5,
  or: 6,
  default: 10,
}
const loosest = 10

/** Minimum and maximum number of operands of each function. */
const functions: Readonly<Record<string, readonly [least: number, most: number]>> = {
  abs: [1, 1],
  ceil: [1, 1],
  exp: [1, 1],
  floor: [1, 1],
  ln: [1, 1],
  max: [2, 100],
  min: [2, 100],
  now: [0, 0],
  rand: [0, 0],
  round: [1, 2],
}

const stops = ['+', '-', '/']

/** Parses an expression of operators that bind as tightly as a level. @throws Status 400 */
export function parseMath(tokens: Tokens, limits: Limits, level = loosest): MathExpression {
  if (level === 0) return parseOperand(tokens, limits)
  let left = parseMath(tokens, limits, level - 1)
  for (;;) {
    const operator = tokens.current.text.toLowerCase()
    if (tokens.current.isQuoted || operators[operator] !== level) return left
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
  const [least, most] = functions[name] ?? [0, 0]
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
      const level = operators[expression.operator] ?? 0
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
  return expression.kind === 'operator' && (operators[expression.operator] ?? 0) > most ? `(${text})` : text
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
    case 'operator':
      return apply(expression.operator, evaluate(expression.left, read), evaluate(expression.right, read))
    case 'function':
      return call(
        expression.name,
        expression.operands.map(operand => evaluate(operand, read)),
      )
  }
}

function apply(operator: string, a: number, b: number): number {
  switch (operator) {
    case '^':
      return a ** b
    case '*':
      return a * b
    case '/':
      return a / b
    case '%':
      // Integers have no negative zero.
      return Number.isInteger(a) ? (a % b) + 0 : a % b
    case '+':
      return a + b
    case '-':
      return a - b
    case 'default':
      return Number.isNaN(a) ? b : a
    default:
      return applyBits(operator, a, b)
  }
}

const most = 2n ** 64n

function applyBits(operator: string, a: number, b: number): number {
  if (!Number.isFinite(a) || !Number.isFinite(b)) return Number.NaN
  const [x, y] = [a, b].map(value => ((BigInt(Math.trunc(value)) % most) + most) % most)
  if (x === undefined || y === undefined) return Number.NaN
  return Number(operator === '&' ? x & y : operator === 'or' ? x | y : x ^ y)
}

function call(name: string, operands: readonly number[]): number {
  const [first = Number.NaN, second] = operands
  switch (name) {
    case 'abs':
      return Math.abs(first)
    case 'ceil':
      return Math.ceil(first)
    case 'exp':
      return Math.exp(first)
    case 'floor':
      return Math.floor(first)
    case 'ln':
      return Math.log(first)
    case 'max':
      return operands.reduce((best, value) => (Number.isNaN(best) || value > best ? value : best), Number.NaN)
    case 'min':
      return operands.reduce((best, value) => (Number.isNaN(best) || value < best ? value : best), Number.NaN)
    case 'now':
      return Date.now() * 1e6
    case 'rand':
      return Math.random()
    default:
      return second === undefined ? roundHalfAway(first) : roundTo(first, second)
  }
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
