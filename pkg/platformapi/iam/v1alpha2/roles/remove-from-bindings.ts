import { toStatus } from '../../../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import { isOver } from '../../../../httpserver/response/respond.ts'
import { addWarning } from '../../../../httpserver/response/warning.ts'
import type { CallAs } from '../../../write/as-caller.ts'
import { maxWrites, writeEach } from './member-changes.ts'
import { unbind } from './member-writes.ts'
import { type Binding, createBindingReader, type Subject } from './role-bindings.ts'
import { rbacGroup, type ScopeReader } from './role-reader.ts'

const kinds = ['rolebindings', 'clusterrolebindings'] as const

/**
 * Removes a deleted user or group, as the caller, from the bindings that Kapis has written. Warns
 * about bindings that remain, since a new user or group with the same name would get their
 * permissions.
 */
export function createBindingRemover(tools: {
  readonly scopes: Pick<ScopeReader, 'latest' | 'mayList'>
  readonly callAs: CallAs
}): (exchange: AuthenticatedExchange, subject: Subject) => Promise<void> {
  const { scopes, callAs } = tools
  const toBinding = createBindingReader()

  async function bindingsOf(subject: Subject): Promise<readonly Binding[]> {
    const stores = await Promise.all(kinds.map(kind => scopes.latest(kind)))
    return stores
      .flatMap(store => [...store.entries()].map(toBinding))
      .filter(({ subjects }) =>
        subjects.some(({ kind, name }) => kind === subject.kind && name === subject.name),
      )
  }

  async function leave(exchange: AuthenticatedExchange, subject: Subject): Promise<string | undefined> {
    const may = await Promise.all(kinds.map(kind => scopes.mayList(exchange, rbacGroup, kind)))
    if (may.includes(false))
      return `role bindings of the ${what(subject)} remain: you may not list rolebindings and clusterrolebindings`
    const bindings = await bindingsOf(subject)
    const isOwn = ({ entry }: Binding) => entry.meta.labels?.['app.kubernetes.io/managed-by'] === 'kapis'
    const own = bindings.filter(isOwn).slice(0, maxWrites)
    const failed = await writeEach(own, {
      write: ({ entry }) => unbind(callAs, { ...exchange, rawQuery: '' }, entry.meta, subject),
      isOver: () => isOver(exchange.res),
    })
    const stay = [...bindings.filter(binding => !own.includes(binding)), ...failed]
    if (stay.length === 0) return undefined
    const named = stay
      .slice(0, 3)
      .map(({ entry }) => (entry.namespace === '' ? entry.name : `${entry.namespace}/${entry.name}`))
    const more = stay.length > named.length ? ` and ${stay.length - named.length} more` : ''
    return `role bindings still name the ${what(subject)}: ${named.join(', ')}${more}`
  }

  return async (exchange, subject) => {
    // The subject is already deleted, so an error is reported as a warning.
    const warning = await leave(exchange, subject).catch(
      (error: unknown) => `role bindings of the ${what(subject)} may remain: ${toStatus(error).message}`,
    )
    if (warning !== undefined) addWarning(exchange.res, warning)
  }
}

function what({ kind }: Subject): string {
  return kind.toLowerCase()
}
