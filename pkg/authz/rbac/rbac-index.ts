import { unavailable } from '../../apierrors/status.ts'
import type { Identity } from '../../apirequest/identity/identity.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { fieldsOf, type KubeObject } from '../../kubeclient/object/object.ts'
import { Informer, metaNamespaceKey } from '../../kubeclient/watch/informer.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { createRuleReader, type Rule } from '../review/rule.ts'
import { keysOfCaller, type Permission, rulesGrant, subjectKeys } from './rbac-rules.ts'

/** A RoleBinding or ClusterRoleBinding; `namespace` is '' for the latter. */
export type Binding = {
  readonly namespace: string
  readonly name: string
  /** The role: `name` of a ClusterRole, `namespace/name` of a Role. */
  readonly role: string
  /** Keys of the subjects (see subjectKeys). */
  readonly subjects: readonly string[]
}

/** Reads watched roles and bindings. Each method throws Status 503 before the first lists. */
export type RbacReader = {
  readonly clusterBindings: () => Iterable<Binding>
  readonly bindingsIn: (namespace: string) => readonly Binding[]
  /** Returns RoleBindings and ClusterRoleBindings of the caller or the caller's groups. */
  readonly bindingsOf: (identity: Identity) => readonly Binding[]
  /** Returns the rules of a role (`Binding.role`); undefined if the role does not exist. */
  readonly rulesOf: (role: string) => readonly Rule[] | undefined
  /** Returns all ClusterRoles, and the Roles in a namespace ('' for none). */
  readonly rolesFor: (namespace: string) => Iterable<readonly [role: string, rules: readonly Rule[]]>
  /** Calls a listener when roles or bindings may have changed. @returns its removal */
  readonly onChange: (listener: () => void) => () => void
}

type Role = {
  readonly key: string
  readonly namespace: string
  readonly permissions: ReadonlySet<Permission | 'any'>
  readonly rules: readonly Rule[]
}

/** The namespaces that a role grants to a caller. */
export type Grant = { readonly role: string; readonly namespaces: readonly string[] }

/** Finds the namespaces in which callers have a permission. */
export type GrantIndex = {
  /** Returns grants by role, as bindings share roles. @throws Status 503 before the first lists */
  readonly grantsOf: (identity: Identity) => readonly Grant[]
  /** Calls a listener when a grant may have changed. @returns its removal */
  readonly onChange: (listener: () => void) => () => void
}

const rbac = '/apis/rbac.authorization.k8s.io/v1'

/**
 * Indexes watched roles and bindings by caller. Finding the namespaces of a caller costs time in
 * proportion to their bindings, instead of one review per namespace. Roles with equal rules share
 * them.
 */
export class RbacIndex {
  readonly #listeners = new Set<() => void>()
  readonly #clusterListeners = new Set<() => void>()
  readonly #permissions = new Set<Permission | 'any'>()
  readonly #clusterRoles: Informer<Role>
  readonly #roles: Informer<Role, 'namespace'>
  readonly #bindings: Informer<Binding, 'subject' | 'namespace'>
  readonly #clusterBindings: Informer<Binding, 'subject'>
  #isStarted = false

  constructor({ client, logger }: { client: KubeClient; logger: Logger }) {
    const changed = () => {
      for (const listener of this.#listeners) listener()
    }
    const clusterChanged = () => {
      for (const listener of this.#clusterListeners) listener()
    }
    const of = (what: string) => ({ client, logger, what, path: `${rbac}/${what}` })
    const readRules = createRuleReader()
    // A new object for each version of a role, since its indexed permissions may have changed.
    const parse = (object: KubeObject): Role => {
      const rules = readRules(object.rules)
      return {
        key: metaNamespaceKey(object),
        namespace: object.metadata.namespace ?? '',
        permissions: new Set([...this.#permissions].filter(permission => rulesGrant(rules, permission))),
        rules,
      }
    }
    this.#clusterRoles = new Informer({
      ...of('clusterroles'),
      parse,
      onChange() {
        changed()
        clusterChanged()
      },
    })
    const subject = ({ subjects }: Binding) => subjects
    const byNamespace = ({ namespace }: { readonly namespace: string }) => [namespace]
    this.#roles = new Informer({
      ...of('roles'),
      parse,
      indexers: { namespace: byNamespace },
      onChange: changed,
    })
    this.#bindings = new Informer({
      ...of('rolebindings'),
      parse: toBinding,
      indexers: { subject, namespace: byNamespace },
      onChange: changed,
    })
    this.#clusterBindings = new Informer({
      ...of('clusterrolebindings'),
      parse: toBinding,
      indexers: { subject },
      onChange: clusterChanged,
    })
  }

  async start(): Promise<void> {
    this.#isStarted = true
    // Not awaited: lists of namespaces do not need cluster-wide bindings.
    void this.#clusterBindings.start()
    await Promise.all(this.#informers().map(informer => informer.start()))
  }

  stop(): void {
    for (const each of [...this.#informers(), this.#clusterBindings]) each.stop()
  }

  /** Adds a permission. Must be called before `start`, as only indexed ones are stored. */
  of(permission: Permission | 'any'): GrantIndex {
    if (this.#isStarted) throw new Error('permissions must be added before the role bindings are read')
    this.#permissions.add(permission)
    return {
      grantsOf: identity => this.#grantsOf(permission, identity),
      onChange: listener => {
        this.#listeners.add(listener)
        return () => this.#listeners.delete(listener)
      },
    }
  }

  /** Calls a listener when a ClusterRole or ClusterRoleBinding may have changed. */
  onClusterChange(listener: () => void): void {
    this.#clusterListeners.add(listener)
  }

  reader(): RbacReader {
    const ready = <T>(read: () => T): T => {
      this.#requireLists([...this.#informers(), this.#clusterBindings])
      return read()
    }
    return {
      clusterBindings: () => ready(() => this.#clusterBindings.all()),
      bindingsIn: namespace => ready(() => this.#bindings.byIndex('namespace', namespace)),
      bindingsOf: identity =>
        ready(() => [
          // A set, since several subjects of one binding may match the caller.
          ...new Set(
            keysOfCaller(identity).flatMap(key => [
              ...this.#clusterBindings.byIndex('subject', key),
              ...this.#bindings.byIndex('subject', key),
            ]),
          ),
        ]),
      rulesOf: role => ready(() => this.#role(role)?.rules),
      rolesFor: namespace =>
        ready(() =>
          [...this.#clusterRoles.all(), ...this.#roles.byIndex('namespace', namespace)].map(
            ({ key, rules }) => [key, rules] as const,
          ),
        ),
      onChange: listener => {
        const sets = [this.#listeners, this.#clusterListeners]
        for (const listeners of sets) listeners.add(listener)
        return () => {
          for (const listeners of sets) listeners.delete(listener)
        }
      },
    }
  }

  #role(key: string): Role | undefined {
    return (key.includes('/') ? this.#roles : this.#clusterRoles).get(key)
  }

  #requireLists(informers: readonly { readonly isReady: boolean }[]): void {
    if (!informers.every(({ isReady }) => isReady))
      throw unavailable('the cache for role bindings has not synced yet; retry later')
  }

  #informers() {
    return [this.#clusterRoles, this.#roles, this.#bindings]
  }

  #grantsOf(permission: Permission | 'any', identity: Identity): readonly Grant[] {
    this.#requireLists(this.#informers())
    const namespaces = new Map<string, Set<string>>()
    for (const key of keysOfCaller(identity)) {
      for (const { role, namespace } of this.#bindings.byIndex('subject', key)) {
        if (!this.#role(role)?.permissions.has(permission)) continue
        const known = namespaces.get(role) ?? new Set()
        namespaces.set(role, known.add(namespace))
      }
    }
    return [...namespaces].map(([role, names]) => ({ role, namespaces: [...names] }))
  }
}

/** Converts a RoleBinding or ClusterRoleBinding. @returns undefined for a binding without a role */
function toBinding({ metadata, roleRef, subjects }: KubeObject): Binding | undefined {
  const { namespace = '' } = metadata
  const { kind, name } = fieldsOf(roleRef)
  if (typeof name !== 'string') return undefined
  // Unambiguous: names of RBAC objects are path segments, so they contain no slash.
  const role = kind === 'Role' ? `${namespace}/${name}` : name
  return { namespace, name: metadata.name, role, subjects: subjectKeys(subjects, namespace) }
}
