import type { Identity } from '../../apirequest/identity/identity.ts'
import type { RequestInfo } from '../../apirequest/request-info.ts'
import { createBoundedCache } from '../../cache/bounded-cache.ts'
import type { ObjectVisibility } from '../../resourcecache/list/object-visibility.ts'

/** The namespaces that a caller has seen, and since which version of the store. */
type ShownVersion = { readonly key: string; readonly version: number }

type FixedView = Pick<NonNullable<ObjectVisibility['fixed']>, 'versionShown' | 'show'>

export type ShownVersions = {
  readonly of: (
    access: { readonly identity: Identity; readonly attributes: RequestInfo },
    key: string,
  ) => FixedView
}

const maxBytes = 4 * 1024 * 1024

/** Remembers by caller and kind since which version the visible namespaces are the same. */
export function createShownVersions(identityKey: (identity: Identity) => string): ShownVersions {
  const create = () => createBoundedCache<ShownVersion>({ maxBytes, sizeOf: () => 150 })
  const shown = create()
  // Lists by name have a separate cache, since callers can request any number of names.
  const shownNamed = create()
  return {
    of({ identity, attributes: { group, resource, name } }, key) {
      const cache = name === '' ? shown : shownNamed
      // The key has no verb, because a watch continues a list of the same namespaces.
      const place = JSON.stringify([identityKey(identity), group, resource, name])
      const versionShown = () => {
        const last = cache.get(place)
        return last?.key === key ? last.version : undefined
      }
      return {
        versionShown,
        show(version) {
          if (versionShown() === undefined) cache.set(place, { key, version })
        },
      }
    },
  }
}
