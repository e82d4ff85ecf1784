import { membersOf, textOf } from '../kube/object.ts'
import { unavailable } from '../status/status.ts'
import { type SourceKind, schemasOfKinds } from './schema/of-kinds.ts'
import type { Schemas } from './schema/schema.ts'

export type KindSchemasOptions = {
  readonly kinds: readonly SourceKind[]
  /** The parsed answer of the orchestrator at a path. @throws Status */
  readonly read: (path: string) => Promise<unknown>
  /** For how long what was read is taken for the present state: kube-apiserver asks one document after the other. */
  readonly freshMs?: number
}

/**
 * Schemas of kinds, read from the orchestrator's own documents when first they are asked for. Its index names each document
 * by its hash, so they are read again only when one has changed; until then the same value is given.
 *
 * What is known stays good while the orchestrator does not answer.
 *
 * @throws Status 503 while nothing is known yet
 */
export function createKindSchemas({
  kinds,
  read,
  freshMs = 5_000,
}: KindSchemasOptions): () => Promise<Schemas> {
  const keys = new Set(kinds.map(({ source }) => keyOf(source)))
  let known: { readonly schemas: Schemas; readonly urls: string } | undefined
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<Schemas> | undefined

  async function update(): Promise<Schemas> {
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
    return known.schemas
  }

  async function updateOrKeep(): Promise<Schemas> {
    try {
      return await update()
    } catch (error) {
      if (known !== undefined) return known.schemas
      throw unavailable('the orchestrator does not tell the schemas of its kinds yet', error)
    } finally {
      reading = undefined
    }
  }

  return async () => {
    if (known !== undefined && performance.now() - readAt < freshMs) return known.schemas
    reading ??= updateOrKeep()
    return reading
  }
}

function keyOf({ group, version }: SourceKind['source']): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`
}
