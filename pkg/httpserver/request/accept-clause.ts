/** One clause of an Accept header (RFC 9110 section 12.5.1), in lower case, without `q`. */
export type Clause = {
  readonly type: string
  readonly subtype: string
  readonly quality: number
  readonly parameters: ReadonlyMap<string, string>
}

// Maximum number of parsed clauses; clients send few.
const maxClauses = 64

/**
 * Parses an Accept header and sorts the clauses: by quality, then exact types before wildcards,
 * then in the given order. Invalid clauses are dropped, as in kube-apiserver, and so are those with
 * quality 0.
 */
export function parseAccept(header: string): readonly Clause[] {
  const clauses: Clause[] = []
  for (const part of header.split(',', maxClauses)) {
    const clause = parseClause(part)
    if (clause !== undefined && clause.quality > 0) clauses.push(clause)
  }
  return clauses.sort((a, b) => b.quality - a.quality || wildness(a) - wildness(b))
}

/** Returns whether the clause matches `application/<subtype>`. */
export function covers(clause: Clause, subtype: string): boolean {
  if (clause.type === '*') return clause.subtype === '*'
  return clause.type === 'application' && (clause.subtype === subtype || clause.subtype === '*')
}

function parseClause(text: string): Clause | undefined {
  const [range = '', ...rest] = text.split(';')
  const slash = range.indexOf('/')
  const type = (slash < 0 ? range : range.slice(0, slash)).trim().toLowerCase()
  // `*` means `*/*`, as old Java clients send it.
  const subtype =
    slash < 0 && type === '*'
      ? '*'
      : slash < 0
        ? ''
        : range
            .slice(slash + 1)
            .trim()
            .toLowerCase()
  if (type === '' || subtype === '' || subtype.includes('/')) return undefined
  const parameters = new Map<string, string>()
  let quality = 1
  for (const parameter of rest) {
    const equals = parameter.indexOf('=')
    if (equals < 0) continue
    const key = parameter.slice(0, equals).trim().toLowerCase()
    const value = unquote(parameter.slice(equals + 1).trim())
    if (key === 'q') quality = parseQuality(value)
    else parameters.set(key, value)
  }
  return { type, subtype, quality, parameters }
}

function parseQuality(value: string): number {
  return /^(0|1)?(\.\d*)?$/.test(value) && value !== '' && value !== '.' ? Math.min(Number(value), 1) : 0
}

function unquote(value: string): string {
  return value.length > 1 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value
}

function wildness(clause: Clause): number {
  return (clause.type === '*' ? 2 : 0) + (clause.subtype === '*' ? 1 : 0)
}
