import type { KubeObject, ObjectMeta } from '../kubeclient/object/object.ts'
import type { ReceivedEvent } from '../kubeclient/watch/watch.ts'
import { nodes } from './kinds/nodes.ts'
import { resourcesGroup, resourcesVersion } from './kinds.ts'
import type { ObjectVisibility } from './list/object-visibility.ts'
import { CachedObject, type ServedKind } from './store/cached-object.ts'
import type { Chunk } from './store/chunk.ts'
import { ObjectStore, type ObjectStoreOptions } from './store/store.ts'

export const servedNodes: ServedKind = {
  kind: nodes,
  group: resourcesGroup('kapis.io'),
  version: resourcesVersion,
}

export type NodeOptions = {
  readonly version?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly created?: string
  readonly meta?: Partial<ObjectMeta>
  readonly spec?: Readonly<Record<string, unknown>>
  readonly status?: Readonly<Record<string, unknown>>
}

export function node(name: string, options: NodeOptions = {}): KubeObject {
  const { version = 1, labels, annotations, created = '2031-05-06T07:08:09Z', meta, spec, status } = options
  return {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: {
      name,
      uid: `uid-${name}`,
      resourceVersion: String(version),
      creationTimestamp: created,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...meta,
    },
    ...(spec === undefined ? {} : { spec }),
    ...(status === undefined ? {} : { status }),
  }
}

export function entry(name: string, options: NodeOptions = {}): CachedObject {
  return toEntry(servedNodes, node(name, options))
}

/** Creates a CachedObject as if it had been received from kube-apiserver. */
export function toEntry(served: ServedKind, object: KubeObject): CachedObject {
  return CachedObject.from(served, object, JSON.stringify(object))
}

/** Replaces the content of a store as if the objects had been received from kube-apiserver. */
export function replaceAll(store: ObjectStore, items: readonly KubeObject[], resourceVersion: string): void {
  store.replace(
    items,
    resourceVersion,
    items.map(item => JSON.stringify(item)),
  )
}

/** Creates a store of the given nodes at resource version 10. */
export function storeOf(
  items: readonly KubeObject[],
  { version = 10, ...options }: ObjectStoreOptions & { readonly version?: number } = {},
): ObjectStore {
  const store = new ObjectStore(servedNodes, options)
  replaceAll(store, items, String(version))
  return store
}

export function event(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): ReceivedEvent {
  return { type, object, json: JSON.stringify(object) }
}

export function bookmark(version: number): ReceivedEvent {
  const metadata = { name: '', uid: '', creationTimestamp: '', resourceVersion: String(version) }
  return { type: 'BOOKMARK', object: { metadata }, json: '' }
}

export function namesOf(chunks: readonly Chunk[]): string[] {
  return chunks.flatMap(chunk => chunk.entries.map(({ name }) => name))
}

/** Returns a pseudorandom number generator (mulberry32), the same on every run. */
export function createRandom(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

/** Visibility of the objects with the given names, until a test changes the names. */
export function changingVisibility(...first: readonly string[]) {
  const listeners = new Set<() => void>()
  let now = first
  const see = (names: readonly string[]): ObjectVisibility => ({
    key: names.join(),
    has: ({ name }) => names.includes(name),
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    permissions: {
      isCurrent: () => names.join() === now.join(),
      mayStillSee: () => names.every(name => now.includes(name)),
      renew: async () => see(now),
    },
    fixed: { versionShown: () => 1, show: () => undefined },
  })
  return {
    visible: see(first),
    give(...names: readonly string[]) {
      now = names
    },
    notify() {
      for (const listener of [...listeners]) listener()
    },
  }
}
