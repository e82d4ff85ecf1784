import { setTimeout as sleep } from 'node:timers/promises'
import { unavailable } from '../../apierrors/status.ts'
import { membersOf, textOf } from '../../kubeclient/object.ts'
import { type SourceKind, schemasOfKinds } from './schema/of-kinds.ts'
import type { Schemas } from './schema/schema.ts'

export type KindSchemasOptions = {
  readonly kinds: readonly SourceKind[]
  /** The parsed answer of kube-apiserver at a path. @throws Status */
  readonly read: (path: string) => Promise<unknown>
  /** For how long what was read is taken for the present state: kube-apiserver asks one document after the other. */
  readonly freshMs?: number
  /** How long is waited for kube-apiserver while nothing is known. */
  readonly patienceMs?: number
}

/**
 * Schemas of kinds, read from kube-apiserver's own documents. Its index names each document by its hash, so they are read
 * again only when one has changed; until then the same value is given.
 *
 * What is known is given at once, and read again behind it: kube-apiserver asks an aggregated server for its documents with a
 * lock held that its own /openapi/v3 needs (kube-aggregator, openapiv3 `UpdateAPIServiceSpec`), so who asked it back before
 * answering would wait until one of both gives up, and with it everybody in the cluster who applies or explains.
 *
 * @throws Status 503 while nothing is known
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
    const { paths } = membersOf(await read('/openapi/v3'))
    const index = membersOf(paths)
    // A group that is not served yet has no document.
    const urls = [...keys]
      .map(key => textOf(membersOf(index[key]).serverRelativeURL))
      .filter(url => url !== '')
    const together = urls.join(' ')
    if (known?.urls !== together) {
      const documents: unknown[] = []
      for (const url of urls) documents.push(await read(url))
      known = { schemas: schemasOfKinds(kinds, documents), urls: together }
    }
    readAt = performance.now()
  }

  /** One at a time, for all that ask. */
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
      // What is known stays good while kube-apiserver is not responding.
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
