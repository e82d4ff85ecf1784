import { badRequest } from '../status/status.ts'

export type FieldRequirement = {
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
}

/**
 * Parses `metadata.name=a,metadata.namespace!=b` (k8s.io/apimachinery/pkg/fields). A backslash escapes `,`, `=` and
 * itself in values.
 *
 * @param known the fields that may be named; any, when it is left out
 * @throws Status 400 on bad syntax, or when a field is not among them
 */
export function parseFieldSelector(text: string, known?: readonly string[]): readonly FieldRequirement[] {
  if (text === '') return []
  return splitUnescaped(text).map(term => {
    const match = /^((?:[^=!\\]|\\.)*?)(!=|==|=)(.*)$/s.exec(term)
    if (!match) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`)
    const field = match[1] ?? ''
    if (known && !known.includes(field)) {
      const allowed = known.map(name => JSON.stringify(name)).join(', ')
      throw badRequest(`${JSON.stringify(field)} is not a known field selector: only ${allowed}`)
    }
    return { field, operator: match[2] === '!=' ? '!=' : '=', value: unescapeValue(match[3] ?? '', text) }
  })
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
      `invalid field selector ${JSON.stringify(text)}: ${JSON.stringify(found)} is no escape sequence`,
    )
  })
}
