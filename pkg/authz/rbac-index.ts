import type { KubeClient } from '../kube/client.ts'
import { isRecord, type KubeObject } from '../kube/object.ts'
import { Reflector } from '../kube/reflector.ts'
import type { Identity } from '../request/identity.ts'
import { unavailable } from '../status/status.ts'
import type { Logger } from '../telemetry/logger.ts'
import { callerKeys, givesRight, type Right, subjectKeys } from './rbac-rules.ts'

/** One binding in one namespace; a Role is named with its namespace, since another of that name says something else. */
type Binding = { readonly namespace: string; readonly role: string; readonly subjects: readonly string[] }

/** The namespaces that a role gives a caller. */
export type Grant = { readonly role: string; readonly namespaces: readonly string[] }

/** Where one right is given. */
export type GrantIndex = {
  /** By role, since bindings of one ClusterRole say the same wherever they are. @throws Status 503 before the first state */
  readonly grantsOf: (identity: Identity) => readonly Grant[]
  /** Told whenever what is given to anybody may have changed, until the returned function is called. */
  readonly onChange: (listener: () => void) => () => void
}

const rbac = '/apis/rbac.authorization.k8s.io/v1'

/**
 * Where role bindings give a caller one of some rights: kept by watching roles and role bindings, so that finding the
 * namespaces of a caller costs what his bindings are and not a review for each namespace there is. Of each role only the
 * answers are kept.
 */
export class RbacIndex {
  readonly #listeners = new Set<() => void>()
  readonly #clusterListeners = new Set<() => void>()
  readonly #bindings = new Map<string, Binding>()
  readonly #bySubject = new Map<string, Map<string, Binding>>()
  /** The roles that give it, by right. */
  readonly #roles = new Map<Right | 'any', Set<string>>()
  readonly #reflectors: readonly Reflector[]
  readonly #clusterBindings: Reflector
  #isStarted = false
  #synced = false

  constructor({ client, logger }: { client: KubeClient; logger: Logger }) {
    const failed = (what: string) => (err: unknown) => logger.warn({ err }, `watching ${what} failed`)
    const roles = (plural: string, changed = () => this.#tell()) => {
      const known = new Set<string>()
      return new Reflector({
        client,
        path: `${rbac}/${plural}`,
        sink: {
          replace: items => {
            for (const key of [...known]) this.#forgetRole(key, known)
            for (const item of items) this.#setRole(item, known)
            changed()
          },
          apply: events => {
            for (const { type, object } of events) {
              if (type === 'BOOKMARK') continue
              if (type === 'DELETED') this.#forgetRole(keyOfRole(object), known)
              else this.#setRole(object, known)
            }
            changed()
          },
          failed: failed(plural),
        },
      })
    }
    const bindings = new Reflector({
      client,
      path: `${rbac}/rolebindings`,
      sink: {
        replace: items => {
          this.#bindings.clear()
          this.#bySubject.clear()
          for (const item of items) this.#setBinding(item)
          this.#tell()
        },
        apply: events => {
          for (const { type, object } of events) {
            if (type === 'DELETED') this.#forgetBinding(bindingKey(object))
            else if (type !== 'BOOKMARK') this.#setBinding(object)
          }
          this.#tell()
        },
        failed: failed('rolebindings'),
      },
    })
    const clusterChanged = () => {
      for (const listener of this.#clusterListeners) listener()
    }
    const clusterRolesChanged = () => {
      this.#tell()
      clusterChanged()
    }
    this.#reflectors = [roles('clusterroles', clusterRolesChanged), roles('roles'), bindings]
    this.#clusterBindings = new Reflector({
      client,
      path: `${rbac}/clusterrolebindings`,
      sink: { replace: clusterChanged, apply: clusterChanged, failed: failed('clusterrolebindings') },
    })
  }

  async start(): Promise<void> {
    this.#isStarted = true
    // Nothing is read of them, so that nobody has to wait for them.
    void this.#clusterBindings.start()
    await Promise.all(this.#reflectors.map(reflector => reflector.start()))
    this.#synced = true
  }

  stop(): void {
    for (const reflector of [...this.#reflectors, this.#clusterBindings]) reflector.stop()
  }

  /** Where a right is given. It must be asked before the start: of roles that are known already nothing but the answers is kept. */
  of(right: Right | 'any'): GrantIndex {
    if (this.#isStarted) throw new Error('role bindings are read already, without this right')
    const roles = this.#roles.get(right) ?? new Set()
    this.#roles.set(right, roles)
    return {
      grantsOf: identity => this.#grantsOf(roles, identity),
      onChange: listener => {
        this.#listeners.add(listener)
        return () => this.#listeners.delete(listener)
      },
    }
  }

  /** Told whenever what is given in the whole cluster may have changed: cluster roles, and their bindings. */
  onClusterChange(listener: () => void): void {
    this.#clusterListeners.add(listener)
  }

  #grantsOf(roles: ReadonlySet<string>, identity: Identity): readonly Grant[] {
    if (!this.#synced) throw unavailable('role bindings are still being read from the orchestrator')
    const namespaces = new Map<string, Set<string>>()
    for (const key of callerKeys(identity)) {
      for (const { role, namespace } of this.#bySubject.get(key)?.values() ?? []) {
        if (!roles.has(role)) continue
        const known = namespaces.get(role) ?? new Set()
        namespaces.set(role, known.add(namespace))
      }
    }
    return [...namespaces].map(([role, names]) => ({ role, namespaces: [...names] }))
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }

  #setRole(object: KubeObject, known: Set<string>): void {
    const key = keyOfRole(object)
    this.#forgetRole(key, known)
    for (const [right, roles] of this.#roles) {
      if (!givesRight(object.rules, right)) continue
      roles.add(key)
      known.add(key)
    }
  }

  #forgetRole(key: string, known: Set<string>): void {
    for (const roles of this.#roles.values()) roles.delete(key)
    known.delete(key)
  }

  #setBinding(object: KubeObject): void {
    const key = bindingKey(object)
    this.#forgetBinding(key)
    const { namespace = '' } = object.metadata
    const { kind, name } = isRecord(object.roleRef) ? object.roleRef : {}
    if (typeof name !== 'string') return
    const role = roleKey(name, kind === 'Role' ? namespace : undefined)
    const binding = { namespace, role, subjects: subjectKeys(object.subjects, namespace) }
    this.#bindings.set(key, binding)
    for (const subject of binding.subjects) {
      const known = this.#bySubject.get(subject) ?? new Map()
      this.#bySubject.set(subject, known.set(key, binding))
    }
  }

  #forgetBinding(key: string): void {
    for (const subject of this.#bindings.get(key)?.subjects ?? []) {
      const known = this.#bySubject.get(subject)
      known?.delete(key)
      if (known?.size === 0) this.#bySubject.delete(subject)
    }
    this.#bindings.delete(key)
  }
}

function roleKey(name: string, namespace: string | undefined): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

function keyOfRole({ metadata }: KubeObject): string {
  return roleKey(metadata.name, metadata.namespace)
}

function bindingKey({ metadata }: KubeObject): string {
  return `${metadata.namespace}/${metadata.name}`
}
