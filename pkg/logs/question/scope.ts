import { allOf, anyOf, isOneOf, match } from '../expression.ts'
import type { LogFilter, PermittedNamespace } from '../filter.ts'
import type { Where } from './question.ts'

/** Where the caller may read logs: everywhere, or in these namespaces. */
export type Readable = 'everywhere' | readonly string[]

const nsPerSecond = 1_000_000_000n

/**
 * What is asked for, within what may be seen. Who may read everything sees the logs of namespaces that are gone too; anyone
 * else sees those that exist, each from the second of its creation on, because a namespace of that name may have been
 * someone else's before.
 *
 * @param created creation times of the namespaces that there are, in Unix seconds
 * @returns undefined when there is nothing that may be seen
 */
export function toFilter(
  { namespaces, namespaceParts, ...where }: Where,
  readable: Readable,
  created: () => ReadonlyMap<string, number>,
): LogFilter | undefined {
  if (readable === 'everywhere') {
    const parts = [
      namespaces && isOneOf('namespace', namespaces),
      namespaceParts &&
        anyOf(
          namespaceParts.map(text => match('namespace', { kind: 'contains', text, caseSensitive: true })),
        ),
      where.expression,
    ]
    const expression = allOf(parts.filter(part => part !== undefined))
    return { ...where, scope: 'everything', ...(expression === undefined ? {} : { expression }) }
  }
  const scope = toScope(selectNames(readable, namespaces, namespaceParts), created())
  return scope.length === 0 ? undefined : { ...where, scope }
}

function selectNames(
  readable: readonly string[],
  names: readonly string[] | undefined,
  parts: readonly string[] | undefined,
): readonly string[] {
  const wanted = names && new Set(names)
  return readable.filter(
    name => (wanted?.has(name) ?? true) && (parts?.some(part => name.includes(part)) ?? true),
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
