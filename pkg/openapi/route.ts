/**
 * Returns the path template, such as `/users/{user}`, that matches a path: literal segments take
 * precedence over parameters.
 *
 * @param parts the decoded segments of the path
 */
export function findRoute<T extends string>(
  templates: readonly T[],
  parts: readonly string[],
): T | undefined {
  let best: { readonly template: T; readonly literals: string } | undefined
  for (const template of templates) {
    const segments = template.split('/').slice(1)
    if (segments.length !== parts.length) continue
    const isParameter = (segment: string) => segment.startsWith('{')
    if (!segments.every((segment, i) => (isParameter(segment) ? parts[i] !== '' : segment === parts[i])))
      continue
    const literals = segments.map(segment => (isParameter(segment) ? '0' : '1')).join('')
    if (best === undefined || literals > best.literals) best = { template, literals }
  }
  return best?.template
}

/** Returns the handler of the matching path template. */
export function routeOf<H>(routes: Readonly<Record<string, H>>, parts: readonly string[]): H | undefined {
  const template = findRoute(Object.keys(routes), parts)
  return template === undefined ? undefined : routes[template]
}
