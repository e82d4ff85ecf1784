import { operation } from '../../openapi/kube-errors.ts'
import { type ApiResponse, type Operation, type Parameter, query } from '../../openapi/operation.ts'
import {
  arrayOf,
  boolean,
  integer,
  kubeObject,
  object,
  oneOfTexts,
  type Schema,
  text,
} from '../../openapi/schema.ts'

const flag = boolean('', { default: false })

/** Parameters for paging, sorting and projection, as parseListQuery reads them. */
const ofLists: readonly Parameter[] = [
  query('page', 'Pages count from 1.', integer('', { minimum: 1, default: 1 })),
  query(
    'limit',
    'Maximum number of objects per page; -1 for all.',
    integer('', { minimum: -1, default: -1 }),
  ),
  query(
    'sortBy',
    'createTime, creationTimestamp, name, namespace, updateTime, lastUpdateTimestamp, status, or a path such as .status.capacity.memory; or several, such as status,-name.',
    text('', { default: 'createTime' }),
  ),
  query(
    'ascending',
    'Sorts in ascending order: the oldest or smallest first; the default where sortBy has several keys or a -.',
    flag,
  ),
  query('labelSelector', 'A Kubernetes label selector.'),
  query(
    'fieldSelector',
    'path=value or path!=value with any field path; several are separated by commas and must all match.',
  ),
  query(
    'columnSelector',
    'Column=value or Column!=value with the columns of the table of the kind, additionalPrinterColumns of custom resources too.',
  ),
  query(
    'shardSelector',
    "Only objects whose hash is in a range: shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000'), or several joined by || (KEP-5866).",
  ),
]

const ofShowing: readonly Parameter[] = [
  query('fields', 'Comma-separated field paths: only these fields are returned.'),
  query('managedFields', 'Includes metadata.managedFields.', flag),
]

/** Filters that all kinds support. */
const filters: readonly Parameter[] = [
  query('name', 'Substring of the name.'),
  query('names', 'Comma-separated exact names.'),
  query('alias', 'Substring of the annotation <group domain>/alias-name.'),
  query('uid', 'The uid of the object.'),
  query('namespace', 'The namespace of the object.'),
  query('ownerReference', 'The uid of an owner.'),
  query(
    'seniority',
    'How many owners there may be between an object and ownerReference: with 1, the pods of a Deployment. Not for watches.',
    integer('', { minimum: 0, maximum: 4, default: 0 }),
  ),
  query('ownerKind', 'The kind of an owner.'),
  query('annotation', 'A selector for annotations, with the syntax of a label selector.'),
  query('label', 'The same as labelSelector.'),
  query('status', 'Status of the object; the values depend on the kind, see docs/lists.md.'),
  query(
    'q',
    'Search in name, labels and annotations: all words must occur; "two words" is a phrase, -word excludes.',
  ),
]

const ofWatches: readonly Parameter[] = [
  query(
    'watch',
    'true: streams watch events of the selected objects, one JSON object per line; no paging.',
    flag,
  ),
  query(
    'resourceVersion',
    'Version to read, or to start the watch from; the server waits for it if necessary. 0: any version; not set: see cache.platformReads in the configuration.',
  ),
  query(
    'resourceVersionMatch',
    'Requires resourceVersion. Exact: exactly this version, or 410. NotOlderThan (also for a watch with sendInitialEvents): this version or a newer one.',
    oneOfTexts(['Exact', 'NotOlderThan']),
  ),
  query('allowWatchBookmarks', 'Watch: whether to send bookmarks.', flag),
  query('sendInitialEvents', 'Watch: whether to begin with the existing objects.', boolean()),
  query(
    'timeoutSeconds',
    'Watch: duration in seconds; 0 for the default of the server.',
    integer('', { minimum: 0 }),
  ),
]

/** @param own additional filters of a kind */
export function listParameters(own: readonly Parameter[] = []): readonly Parameter[] {
  return [...ofLists, ...filters, ...own, ...ofShowing, ...ofWatches]
}

export const objectParameters = ofShowing

const total = integer('Number of matching objects on all pages.')
const watchEvent = object(
  {
    type: oneOfTexts(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR', 'PAGE', 'CHANGED']),
    object: kubeObject,
  },
  [],
  'With watch=true: one watch event per line; PAGE and CHANGED for a watch with page, limit or sortBy.',
)

export function pageOf(item: Schema): Schema {
  return object({ items: arrayOf(item), totalItems: total })
}

const kindList = object({
  kind: text('The kind followed by List.'),
  apiVersion: text(),
  metadata: object({ resourceVersion: text(), remainingItemCount: integer() }, ['remainingItemCount']),
  items: arrayOf(kubeObject),
  totalItems: total,
})

function listResponse(list: Schema): { readonly 200: ApiResponse } {
  return {
    200: {
      description: 'A page of objects; with watch=true, watch events.',
      content: { 'application/json': { schema: { anyOf: [list, watchEvent] } } },
    },
  }
}

/** Returns the OpenAPI operation of a platform list, or of a Kubernetes list. */
export function listOperation(
  summary: string,
  {
    form,
    own = [],
    segments = [],
    page = pageOf(kubeObject),
  }: {
    form: 'items' | 'kind'
    own?: readonly Parameter[]
    segments?: readonly Parameter[]
    page?: Schema
  },
): Operation {
  return operation(summary, listResponse(form === 'items' ? page : kindList), {
    parameters: [...segments, ...listParameters(own)],
    errors: [404, 410],
  })
}

export function objectOperation(
  summary: string,
  segments: readonly Parameter[],
  schema = kubeObject,
): Operation {
  return operation(
    summary,
    { 200: { description: 'The object.', content: { 'application/json': { schema } } } },
    { parameters: [...segments, ...objectParameters], errors: [404] },
  )
}
