import { unavailable } from '../apierrors/status.ts'
import type { Identity } from '../apirequest/identity.ts'
import type { KubeClient } from '../kubeclient/client.ts'
import { Informer } from '../kubeclient/informer.ts'
import { type KubeObject, membersOf } from '../kubeclient/object.ts'
import { Reflector } from '../kubeclient/reflector.ts'
import type { Logger } from '../telemetry/logger.ts'
import { callerKeys, givesRight, type Right, subjectKeys } from './rbac-rules.ts'

/**
 * A binding in one namespace. A Role is named with its namespace, since another Role of the same
 * name has other rules.
 */
type Binding = { readonly namespace: string; readonly role: string; readonly subjects: readonly string[] }

/** The namespaces that a role gives a caller. */
export type Grant = { readonly role: string; readonly namespaces: readonly string[] }

/** Where one right is given. */
export type GrantIndex = {
  /**
   * Grouped by role, since all bindings of a ClusterRole grant the same.
   *
   * @throws Status 503 before the first sync
   */
  readonly grantsOf: (identity: Identity) => readonly Grant[]
  /** Calls a listener when any grant may have changed, until the returned function is called. */
  readonly onChange: (listener: () => void) => () => void
}

const rbac = '/apis/rbac.authorization.k8s.io/v1'

/**
 * An index of role bindings by caller for some permissions, kept up to date by watching roles and
 * role bindings. Finding the namespaces of a caller is proportional to their bindings, instead of
 * one review per namespace. Only the indexed permissions of a role are stored.
 */
export class RbacIndex {
  readonly #listeners = new Set<() => void>()
  readonly #clusterListeners = new Set<() => void>()
  readonly #rights = new Set<Right | 'any'>()
  readonly #clusterRoles: Informer<ReadonlySet<Right | 'any'>>
  readonly #roles: Informer<ReadonlySet<Right | 'any'>>
  readonly #bindings: Informer<Binding, 'subject'>
  readonly #clusterBindings: Reflector
  #isStarted = false

  constructor({ client, logger }: { client: KubeClient; logger: Logger }) {
    const changed = () => {
      for (const listener of this.#listeners) listener()
    }
    const clusterChanged = () => {
      for (const listener of this.#clusterListeners) listener()
    }
    const of = (what: string) => ({ client, logger, what, path: `${rbac}/${what}` })
    // A new set for each version of a role, since it may grant other permissions now that are not
    // indexed.
    const parse = ({ rules }: KubeObject): ReadonlySet<Right | 'any'> =>
      new Set([...this.#rights].filter(right => givesRight(rules, right)))
    this.#clusterRoles = new Informer({
      ...of('clusterroles'),
      parse,
      onChange() {
        changed()
        clusterChanged()
      },
    })
    this.#roles = new Informer({ ...of('roles'), parse, onChange: changed })
    this.#bindings = new Informer({
      ...of('rolebindings'),
      parse: toBinding,
      indexers: { subject: ({ subjects }) => subjects },
      onChange: changed,
    })
    this.#clusterBindings = new Reflector({
      client,
      path: `${rbac}/clusterrolebindings`,
      sink: {
        replace: clusterChanged,
        apply: clusterChanged,
        failed: err => logger.warn({ err }, 'failed to watch clusterrolebindings'),
      },
    })
  }

  async start(): Promise<void> {
    this.#isStarted = true
    // Nothing is read of them, so that nothing has to wait for them.
    void this.#clusterBindings.start()
    await Promise.all(this.#informers().map(informer => informer.start()))
  }

  stop(): void {
    for (const each of [...this.#informers(), this.#clusterBindings]) each.stop()
  }

  /**
   * Adds a permission to the index. Must be called before the start: the other rules of listed
   * roles are not stored.
   */
  of(right: Right | 'any'): GrantIndex {
    if (this.#isStarted) throw new Error('role bindings are read already, without this right')
    this.#rights.add(right)
    return {
      grantsOf: identity => this.#grantsOf(right, identity),
      onChange: listener => {
        this.#listeners.add(listener)
        return () => this.#listeners.delete(listener)
      },
    }
  }

  /**
   * Calls a listener when a cluster-wide grant (a ClusterRole or ClusterRoleBinding) may have
   * changed.
   */
  onClusterChange(listener: () => void): void {
    this.#clusterListeners.add(listener)
  }

  #informers() {
    return [this.#clusterRoles, this.#roles, this.#bindings]
  }

  #grantsOf(right: Right | 'any', identity: Identity): readonly Grant[] {
    if (!this.#informers().every(({ isReady }) => isReady))
      throw unavailable('the cache for role bindings has not synced yet; retry later')
    const namespaces = new Map<string, Set<string>>()
    for (const key of callerKeys(identity)) {
      for (const { role, namespace } of this.#bindings.byIndex('subject', key)) {
        const roles = role.includes('/') ? this.#roles : this.#clusterRoles
        if (!roles.get(role)?.has(right)) continue
        const known = namespaces.get(role) ?? new Set()
        namespaces.set(role, known.add(namespace))
      }
    }
    return [...namespaces].map(([role, names]) => ({ role, namespaces: [...names] }))
  }
}

/** @returns undefined for a binding without a role */
function toBinding({ metadata, roleRef, subjects }: KubeObject): Binding | undefined {
  const { namespace = '' } = metadata
  const { kind, name } = membersOf(roleRef)
  if (typeof name !== 'string') return undefined
  // The name of a role has no slash in it (RBAC names are path segments).
  const role = kind === 'Role' ? `${namespace}/${name}` : name
  return { namespace, role, subjects: subjectKeys(subjects, namespace) }
}
