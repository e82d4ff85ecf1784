import { badRequest } from '../../apierrors/status.ts'
import { requireFewTerms } from './selector.ts'

export type FieldRequirement = {
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
}

/**
 * Parses `metadata.name=a,metadata.namespace!=b` like k8s.io/apimachinery/pkg/fields, and sorts the
 * terms. A field ends at the first operator; in values, a backslash escapes `,`, `=` and itself.
 *
 * @param parameter name of the query parameter, for the message
 * @throws Status 400 for a syntax error
 */
export function parseFieldSelector(text: string, parameter = 'fieldSelector'): readonly FieldRequirement[] {
  const terms = splitUnescaped(text)
  requireFewTerms(terms.length, parameter)
  return terms.toSorted().map(term => {
    const operator = /!=|==?/.exec(term)
    if (operator === null) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`)
    const value = unescapeValue(term.slice(operator.index + operator[0].length), text)
    return { field: term.slice(0, operator.index), operator: operator[0] === '!=' ? '!=' : '=', value }
  })
}

/** @throws Status 400 for an unknown field */
export function requireKnownFields(
  requirements: readonly FieldRequirement[],
  known: readonly string[],
): void {
  for (const { field } of requirements) {
    if (known.includes(field)) continue
    const allowed = known.map(name => JSON.stringify(name)).join(', ')
    throw badRequest(`${JSON.stringify(field)} is not a known field selector: only ${allowed}`)
  }
}

export function requiredValue(requirements: readonly FieldRequirement[], field: string): string | undefined {
  return requirements.find(required => required.field === field && required.operator === '=')?.value
}

export function matchesFields(
  requirements: readonly FieldRequirement[],
  fields: Readonly<Record<string, string>>,
): boolean {
  return requirements.every(r => ((fields[r.field] ?? '') === r.value) === (r.operator === '='))
}

function splitUnescaped(text: string): readonly string[] {
  const terms = text.match(/(?:\\.|[^,\\]|\\$)+/gs) ?? []
  return terms.filter(term => term !== '')
}

function unescapeValue(value: string, text: string): string {
  return value.replace(/\\(.?)|=/gs, (found, escaped: string | undefined) => {
    if (found === '=')
      throw badRequest(`invalid field selector ${JSON.stringify(text)}: unescaped "=" in a value`)
    if (escaped === ',' || escaped === '=' || escaped === '\\') return escaped
    throw badRequest(
      `invalid field selector ${JSON.stringify(text)}: ${JSON.stringify(found)} is not an escape sequence`,
    )
  })
}
