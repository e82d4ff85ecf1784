import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import { addWarning } from '../../../../httpserver/warning.ts'
import type { CallAs } from '../../../as-caller.ts'
import { mostWrites } from './member-changes.ts'
import { unbind } from './member-writes.ts'
import { type Binding, createBindingReader } from './role-bindings.ts'
import { rbacGroup, type ScopeReader } from './scope-reader.ts'

const kinds = ['rolebindings', 'clusterrolebindings'] as const

/**
 * Removes a deleted user from the bindings that Kapis has written, as the caller, and warns of those
 * that stay: a later user of the name would have their rights.
 */
export function createBindingRemover(tools: {
  readonly places: Pick<ScopeReader, 'latest' | 'mayList'>
  readonly callAs: CallAs
}): (exchange: AuthenticatedExchange, user: string) => Promise<void> {
  const { places, callAs } = tools
  const toBinding = createBindingReader()

  async function bindingsOf(user: string): Promise<readonly Binding[]> {
    const stores = await Promise.all(kinds.map(kind => places.latest(kind)))
    return stores
      .flatMap(store => [...store.entries()].map(toBinding))
      .filter(({ subjects }) => subjects.some(({ kind, name }) => kind === 'User' && name === user))
  }

  return async (exchange, user) => {
    const may = await Promise.all(kinds.map(kind => places.mayList(exchange, rbacGroup, kind)))
    if (may.includes(false))
      return addWarning(
        exchange.res,
        'role bindings of the user stay: you may not list rolebindings and clusterrolebindings',
      )
    const bindings = await bindingsOf(user)
    const isOwn = ({ entry }: Binding) => entry.meta.labels?.['app.kubernetes.io/managed-by'] === 'kapis'
    const own = bindings.filter(isOwn).slice(0, mostWrites)
    const stay = bindings.filter(binding => !own.includes(binding))
    for (const binding of own) {
      try {
        await unbind(callAs, { ...exchange, rawQuery: '' }, binding.entry.meta, user)
      } catch {
        stay.push(binding)
      }
    }
    if (stay.length === 0) return
    const named = stay
      .slice(0, 3)
      .map(({ entry }) => (entry.namespace === '' ? entry.name : `${entry.namespace}/${entry.name}`))
    const more = stay.length > named.length ? ` and ${stay.length - named.length} more` : ''
    addWarning(exchange.res, `role bindings still name the user: ${named.join(', ')}${more}`)
  }
}
