import { badRequest } from '../../apierrors/status.ts'
import type { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import type { Cell, Kind } from '../../resourcecache/kind.ts'
import { aggregatedForm, objectBytes } from '../../resourcecache/list/list-body.ts'
import type { CachedObject } from '../../resourcecache/store/cached-object.ts'
import { entriesOf, type Selection } from '../../resourcecache/store/chunk.ts'
import { formatAge } from './age.ts'

export type MetaVersion = 'v1' | 'v1beta1'
/** The part of the object that a row contains (metav1.IncludeObjectPolicy). */
export type IncludeObject = 'Metadata' | 'Object' | 'None'

export type TableOptions = {
  readonly version: MetaVersion
  readonly includeObject: IncludeObject
  readonly nowMs: number
}

/** @throws Status 400 */
export function parseIncludeObject(query: QueryParameters): IncludeObject {
  const text = query.get('includeObject') ?? ''
  if (text === '') return 'Metadata'
  if (text === 'Metadata' || text === 'Object' || text === 'None') return text
  throw badRequest(
    `unrecognized includeObject value: ${JSON.stringify(text)}: must be Metadata, Object or None`,
  )
}

/** Returns the fields of a metav1.Table except its rows. */
export function tableHead(
  kind: Kind,
  version: MetaVersion,
  metadata: object,
): Readonly<Record<string, unknown>> {
  return { kind: 'Table', apiVersion: `meta.k8s.io/${version}`, metadata, columnDefinitions: kind.columns }
}

/** Generates the rows of a metav1.Table, each as JSON. */
export function* tableRows(selection: Selection, options: TableOptions): Generator<string> {
  for (const entry of entriesOf(selection)) yield toRow(entry, options)
}

/**
 * Returns the one-row metav1.Table of an object, as JSON.
 *
 * @param showColumns false for later events of a watch, which omit the column definitions
 */
export function tableOfObject(entry: CachedObject, options: TableOptions, showColumns = true): string {
  const head = tableHead(entry.served.kind, options.version, { resourceVersion: entry.meta.resourceVersion })
  const members = JSON.stringify(showColumns ? head : { ...head, columnDefinitions: null })
  return `${members.slice(0, -1)},"rows":[${toRow(entry, options)}]}`
}

/** Returns the metav1.PartialObjectMetadata of an object, as JSON. */
export function toPartial(entry: CachedObject, version: MetaVersion): string {
  return `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":${entry.metadata()}}`
}

function toRow(entry: CachedObject, options: TableOptions): string {
  const cells = [...entry.fields.cells, ...entry.decoration.cells].map(cell => toCell(cell, options.nowMs))
  const row = `{"cells":${JSON.stringify(cells)}`
  if (options.includeObject === 'None') return `${row},"object":null}`
  const object =
    options.includeObject === 'Object'
      ? objectBytes(entry, aggregatedForm).toString()
      : toPartial(entry, options.version)
  return `${row},"object":${object}}`
}

function toCell(cell: Cell, nowMs: number): string | number {
  if (typeof cell !== 'object') return cell
  if ('since' in cell) return formatAge(cell.since, nowMs)
  return cell.ago === '' ? cell.text : `${cell.text} (${formatAge(cell.ago, nowMs)} ago)`
}
