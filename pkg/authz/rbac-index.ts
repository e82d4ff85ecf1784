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

const rbac = '/apis/rbac.authorization.k8s.io/v1'

/**
 * Where role bindings give a caller a right: kept by watching roles and role bindings, so that finding the namespaces of a
 * caller costs what his bindings are and not a review for each namespace there is. Of each role only the answer is kept.
 */
export class RbacIndex {
  readonly #right: Right | 'any'
  readonly #listeners = new Set<() => void>()
  readonly #bindings = new Map<string, Binding>()
  readonly #bySubject = new Map<string, Map<string, Binding>>()
  readonly #roles = new Set<string>()
  readonly #reflectors: readonly Reflector[]
  #synced = false

  constructor(options: { client: KubeClient; right: Right | 'any'; logger: Logger }) {
    const { client, logger } = options
    this.#right = options.right
    const failed = (what: string) => (err: unknown) => logger.warn({ err }, `watching ${what} failed`)
    const roles = (plural: string) => {
      const known = new Set<string>()
      return new Reflector({
        client,
        path: `${rbac}/${plural}`,
        sink: {
          replace: items => {
            for (const key of known) this.#roles.delete(key)
            known.clear()
            for (const item of items) this.#setRole(item, known)
            this.#tell()
          },
          apply: events => {
            for (const { type, object } of events) {
              if (type === 'DELETED') this.#forgetRole(object, known)
              else if (type !== 'BOOKMARK') this.#setRole(object, known)
            }
            this.#tell()
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
    this.#reflectors = [roles('clusterroles'), roles('roles'), bindings]
  }

  async start(): Promise<void> {
    await Promise.all(this.#reflectors.map(reflector => reflector.start()))
    this.#synced = true
  }

  stop(): void {
    for (const reflector of this.#reflectors) reflector.stop()
  }

  /** Told whenever what is given to anybody may have changed, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** By role, since bindings of one ClusterRole say the same wherever they are. @throws Status 503 before the first state */
  grantsOf(identity: Identity): readonly Grant[] {
    if (!this.#synced) throw unavailable('role bindings are still being read from the orchestrator')
    const namespaces = new Map<string, Set<string>>()
    for (const key of callerKeys(identity)) {
      for (const { role, namespace } of this.#bySubject.get(key)?.values() ?? []) {
        if (!this.#roles.has(role)) continue
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
    const key = roleKey(object.metadata.name, object.metadata.namespace)
    if (givesRight(object.rules, this.#right)) {
      this.#roles.add(key)
      known.add(key)
    } else {
      this.#forgetRole(object, known)
    }
  }

  #forgetRole({ metadata }: KubeObject, known: Set<string>): void {
    const key = roleKey(metadata.name, metadata.namespace)
    this.#roles.delete(key)
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

function bindingKey({ metadata }: KubeObject): string {
  return `${metadata.namespace}/${metadata.name}`
}
