import { allOf, anyOf, isOneOf, match } from '../filter/expression.ts'
import type { LogFilter, PermittedNamespace } from '../filter/filter.ts'
import type { RecordSelection } from './log-query.ts'

/** Where the caller may read logs: everywhere or in these namespaces. */
export type ReadableNamespaces = 'everywhere' | readonly string[]

const nsPerSecond = 1_000_000_000n

/**
 * Restricts a query to what the caller may read. Callers who may read everything also see logs of
 * deleted namespaces. Others see those of existing namespaces from their creation on, because an
 * earlier namespace of the same name may have belonged to other users.
 *
 * @param created returns creation times of existing namespaces, in Unix seconds
 * @returns undefined if nothing is visible
 */
export function toFilter(
  { namespaces, namespaceParts, ...where }: RecordSelection,
  readable: ReadableNamespaces,
  created: () => ReadonlyMap<string, number>,
): LogFilter | undefined {
  if (readable === 'everywhere') {
    const contains = (text: string) => match('namespace', { kind: 'contains', text, caseSensitive: true })
    const expression = allOf([
      namespaces && isOneOf('namespace', namespaces),
      namespaceParts && anyOf(namespaceParts.map(contains)),
      where.expression,
    ])
    return { ...where, scope: 'everything', expression }
  }
  const scope = toScope(selectNames(readable, namespaces, namespaceParts), created())
  return scope.length === 0 ? undefined : { ...where, scope }
}

function selectNames(
  readable: readonly string[],
  names: readonly string[] | undefined,
  parts: readonly string[] | undefined,
): readonly string[] {
  const requested = names && new Set(names)
  return readable.filter(
    name => (requested?.has(name) ?? true) && (parts?.some(part => name.includes(part)) ?? true),
  )
}

function toScope(
  names: readonly string[],
  created: ReadonlyMap<string, number>,
): readonly PermittedNamespace[] {
  return names.flatMap(namespace => {
    const since = created.get(namespace)
    return since === undefined ? [] : [{ namespace, sinceNs: BigInt(since) * nsPerSecond }]
  })
}
