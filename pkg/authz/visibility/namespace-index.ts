import { unavailable } from '../../apierrors/status.ts'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import type { WatchEvent } from '../../kubeclient/watch/watch.ts'

export type NamespaceEventHandler = {
  readonly replace: (namespaces: readonly KubeObject[]) => void
  readonly apply: (events: readonly WatchEvent[]) => void
}

/** Indexes the creation time (Unix seconds) and workspace of each namespace. */
export class NamespaceIndex {
  readonly #created = new Map<string, number>()
  readonly #workspaces = new Map<string, string>()
  readonly #label: string
  #isReady = false

  constructor(groupDomain: string) {
    this.#label = `${groupDomain}/workspace`
  }

  /** The event handler for a watch of namespaces. */
  readonly handler: NamespaceEventHandler = {
    replace: namespaces => {
      this.#created.clear()
      this.#workspaces.clear()
      for (const namespace of namespaces) this.#put(namespace)
      this.#isReady = true
    },
    apply: events => {
      for (const { type, object } of events) {
        if (type === 'DELETED') this.#remove(object.metadata.name)
        else if (type !== 'BOOKMARK') this.#put(object)
      }
    },
  }

  /** Creation times by namespace. @throws Status 503 before the first list */
  get created(): ReadonlyMap<string, number> {
    this.#requireList()
    return this.#created
  }

  /** Workspace by namespace; '' without a workspace. @throws Status 503 before the first list */
  get workspaces(): ReadonlyMap<string, string> {
    this.#requireList()
    return this.#workspaces
  }

  #requireList(): void {
    if (!this.#isReady) throw unavailable('the cache for namespaces has not synced yet; retry later')
  }

  #put({ metadata: { name, creationTimestamp, labels } }: KubeObject): void {
    this.#created.set(name, Math.floor(Date.parse(creationTimestamp) / 1000))
    this.#workspaces.set(name, labels?.[this.#label] ?? '')
  }

  #remove(name: string): void {
    this.#created.delete(name)
    this.#workspaces.delete(name)
  }
}
