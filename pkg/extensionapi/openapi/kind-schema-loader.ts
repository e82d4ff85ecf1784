import { setTimeout as sleep } from 'node:timers/promises'
import { unavailable } from '../../apierrors/status.ts'
import { fieldsOf, textOf } from '../../kubeclient/object/object.ts'
import { type SourceKind, schemasOfKinds } from './schema/kind-schemas.ts'
import type { Schemas } from './schema/schema.ts'

export type KindSchemasOptions = {
  readonly kinds: readonly SourceKind[]
  /** Returns the parsed response of kube-apiserver at a path. @throws Status */
  readonly read: (path: string) => Promise<unknown>
  /**
   * Time for which a result is used without checking for a newer one. kube-apiserver fetches its
   * documents one after another, each of which would otherwise cause a check.
   */
  readonly freshMs?: number
  /** Timeout for the first load. */
  readonly patienceMs?: number
}

/**
 * Loads the schemas of kinds from the OpenAPI documents of kube-apiserver. Its index contains a
 * hash for each document, so only changed ones are fetched; otherwise the same object is returned.
 * Known schemas are returned immediately and refreshed in the background. Fetching synchronously
 * would deadlock: kube-apiserver holds a lock of /openapi/v3 while it fetches the documents of an
 * aggregated server (kube-aggregator, `UpdateAPIServiceSpec`). That would block `kubectl apply` and
 * `explain` in the whole cluster.
 *
 * @throws Status 503 before the first load
 */
export function createKindSchemas({
  kinds,
  read,
  freshMs = 5_000,
  patienceMs = 2_000,
}: KindSchemasOptions): () => Promise<Schemas> {
  const keys = new Set(kinds.map(({ source }) => keyOf(source)))
  let known: { readonly schemas: Schemas; readonly urls: string } | undefined
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined

  async function update(): Promise<void> {
    const { paths } = fieldsOf(await read('/openapi/v3'))
    const index = fieldsOf(paths)
    // The index has no document for a group that is not served yet.
    const urls = [...keys]
      .map(key => textOf(fieldsOf(index[key]).serverRelativeURL))
      .filter(url => url !== '')
    const together = urls.join(' ')
    if (known?.urls !== together) {
      const documents: unknown[] = []
      for (const url of urls) documents.push(await read(url))
      known = { schemas: schemasOfKinds(kinds, documents), urls: together }
    }
    readAt = performance.now()
  }

  /** One concurrent load, shared by all callers. */
  function updating(): Promise<void> {
    reading ??= update().finally(() => {
      reading = undefined
    })
    return reading
  }

  return async () => {
    if (known === undefined) {
      const reason = await Promise.race([updating().catch(error => error), expired(patienceMs)])
      if (known === undefined)
        throw unavailable(
          'the OpenAPI schemas of kube-apiserver have not been loaded yet; retry later',
          reason,
        )
    } else if (performance.now() - readAt >= freshMs) {
      // A failed refresh is ignored: known schemas remain in use.
      updating().catch(() => undefined)
    }
    return known.schemas
  }
}

async function expired(ms: number): Promise<Error> {
  await sleep(ms, undefined, { ref: false })
  return new Error('timeout')
}

function keyOf({ group, version }: SourceKind['source']): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`
}
