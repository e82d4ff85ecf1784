import { badRequest } from '../../apierrors/status.ts'
import { requireFewTerms } from './selector.ts'

type Labels = Readonly<Record<string, string>>

/** One requirement of a label selector, as in metav1.LabelSelectorRequirement (plus gt and lt). */
export type LabelRequirement = {
  readonly key: string
  readonly operator: 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt'
  readonly values: readonly string[]
}

const namePart = '[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?'
const keyPattern = new RegExp(`^(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?/)?${namePart}$`)
const valuePattern = new RegExp(`^(?:${namePart})?$`)
const setForm = /^(\S+?)\s+(in|notin)\s*\(([^()]*)\)$/
const comparison = /^([^=!<>\s]+)\s*(==|=|!=|>|<)\s*(\S*)$/

/**
 * Parses `a=b,c!=d,e in (f,g),!h,i` (k8s.io/apimachinery/pkg/labels); '' selects everything.
 *
 * @param parameter name of the query parameter, for the message
 * @throws Status 400
 */
export function parseLabelSelector(text: string, parameter = 'labelSelector'): readonly LabelRequirement[] {
  const terms = splitTerms(text)
  requireFewTerms(terms.length, parameter)
  return terms.map(term => parseTerm(term, text, parameter))
}

/** Returns whether `labels` match. A missing key matches only `!=`, `notin` and `!`. */
export function matchesLabels(requirements: readonly LabelRequirement[], labels: Labels): boolean {
  // Only own properties are labels: `constructor` is a valid label key, and every object inherits a
  // property of this name.
  const own = (key: string) => (Object.hasOwn(labels, key) ? labels[key] : undefined)
  return requirements.every(requirement => isSatisfied(requirement, own(requirement.key)))
}

function isSatisfied({ operator, values }: LabelRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'in':
      return value !== undefined && values.includes(value)
    case 'notin':
      return value === undefined || !values.includes(value)
    case 'exists':
      return value !== undefined
    case '!':
      return value === undefined
    case 'gt':
      return isInteger(value) && BigInt(value) > BigInt(values[0] ?? 0)
    case 'lt':
      return isInteger(value) && BigInt(value) < BigInt(values[0] ?? 0)
  }
}

function isInteger(value: string | undefined): value is string {
  return value !== undefined && /^-?\d{1,19}$/.test(value)
}

/** Splits at commas outside parentheses. A trailing comma gives an empty, invalid term. */
function splitTerms(text: string): readonly string[] {
  if (text.trim() === '') return []
  const terms: string[] = []
  let depth = 0
  let start = 0
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    if (char === '(') depth++
    else if (char === ')') depth--
    else if (char === ',' && depth === 0) {
      terms.push(text.slice(start, i))
      start = i + 1
    }
  }
  terms.push(text.slice(start))
  return terms.map(term => term.trim())
}

function parseTerm(term: string, text: string, parameter: string): LabelRequirement {
  const fail = (why: string) => badRequest(`${parameter} ${JSON.stringify(text)} cannot be parsed: ${why}`)
  const requirement = readTerm(term)
  if (requirement === undefined)
    throw fail(`invalid requirement ${JSON.stringify(term)}: expected key=value, key in (a,b), key or !key`)
  const { key, operator, values } = requirement
  if (!keyPattern.test(key)) throw fail(`${JSON.stringify(key)} is not a valid label key`)
  for (const value of values) {
    if (!valuePattern.test(value)) throw fail(`${JSON.stringify(value)} is not a valid label value`)
    if ((operator === 'gt' || operator === 'lt') && !isInteger(value))
      throw fail(`${JSON.stringify(value)} is not an integer`)
  }
  return requirement
}

function readTerm(term: string): LabelRequirement | undefined {
  const set = setForm.exec(term)
  if (set) {
    const values = (set[3] ?? '').split(',').map(value => value.trim())
    return { key: set[1] ?? '', operator: set[2] === 'in' ? 'in' : 'notin', values }
  }
  const compared = comparison.exec(term)
  if (compared) return { key: compared[1] ?? '', ...compareWith(compared[2] ?? '', compared[3] ?? '') }
  if (/^!\s*[^\s=<>()!]+$/.test(term)) return { key: term.slice(1).trim(), operator: '!', values: [] }
  if (/^[^\s=<>()!]+$/.test(term)) return { key: term, operator: 'exists', values: [] }
  return undefined
}

function compareWith(sign: string, value: string): Pick<LabelRequirement, 'operator' | 'values'> {
  if (sign === '!=') return { operator: 'notin', values: [value] }
  if (sign === '>') return { operator: 'gt', values: [value] }
  if (sign === '<') return { operator: 'lt', values: [value] }
  return { operator: 'in', values: [value] }
}
