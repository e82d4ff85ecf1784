import { kubeErrors } from '../openapi/kube-errors.ts'
import { type Answer, type Operation, type Parameter, query } from '../openapi/operation.ts'
import {
  arrayOf,
  boolean,
  integer,
  kubeObject,
  object,
  oneOfTexts,
  type Schema,
  text,
} from '../openapi/schema.ts'

const flag = boolean('', { default: false })

/** Paging, sorting and what is shown: see parseListQuery. */
const ofLists: readonly Parameter[] = [
  query('page', 'Pages count from 1.', integer('', { minimum: 1, default: 1 })),
  query('limit', 'Objects of a page; -1 is everything.', integer('', { minimum: -1, default: -1 })),
  query(
    'sortBy',
    'createTime, creationTimestamp, name, updateTime, lastUpdateTimestamp, status, or a path such as .status.capacity.memory.',
    text('', { default: 'createTime' }),
  ),
  query('ascending', 'The other way round: the oldest, or the least, first.', flag),
  query('labelSelector', 'As Kubernetes has it.'),
  query('fieldSelector', 'path=value and path!=value, joined by commas; any path.'),
]

const ofShowing: readonly Parameter[] = [
  query('fields', 'Paths, joined by commas: only these members are shown.'),
  query('managedFields', 'Shows metadata.managedFields too.', flag),
]

/** The filters that every kind has. */
const filters: readonly Parameter[] = [
  query('name', 'Part of the name.'),
  query('names', 'Whole names, joined by commas.'),
  query('alias', 'Part of the annotation <group domain>/alias-name.'),
  query('uid', 'The uid of the object.'),
  query('namespace', 'The namespace of the object.'),
  query('ownerReference', 'The uid of an owner.'),
  query('ownerKind', 'The kind of an owner.'),
  query('annotation', 'A selector, for annotations.'),
  query('label', 'The same as labelSelector.'),
  query('status', 'The status word of the kind: see docs/lists.md.'),
  query(
    'q',
    'Words that must all stand in name, labels or annotations; "two words" together; -word must not.',
  ),
]

const ofWatches: readonly Parameter[] = [
  query('watch', 'true: the events of what is selected, one JSON object a line, without paging.', flag),
  query(
    'resourceVersion',
    'The state that is asked for, which is waited for if need be; of a watch the version to go on from. 0 is any, none is the newest.',
  ),
  query(
    'resourceVersionMatch',
    'With resourceVersion. Exact: that very state, or 410. NotOlderThan, also of a watch with sendInitialEvents: that state or a newer one.',
    oneOfTexts(['Exact', 'NotOlderThan']),
  ),
  query('allowWatchBookmarks', 'Of a watch: bookmarks are sent.', flag),
  query('sendInitialEvents', 'Of a watch: begins with the objects that there are.', boolean()),
  query(
    'timeoutSeconds',
    'Of a watch: it ends after so long; 0 leaves it to the server.',
    integer('', { minimum: 0 }),
  ),
]

/** @param own the filters that the kind has besides */
export function listParameters(own: readonly Parameter[] = []): readonly Parameter[] {
  return [...ofLists, ...filters, ...own, ...ofShowing, ...ofWatches]
}

export const objectParameters = ofShowing

const total = integer('Of what the filters leave, on all pages.')
const watchEvent = object(
  { type: oneOfTexts(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']), object: kubeObject },
  [],
  'With watch=true, one a line.',
)

export function pageOf(item: Schema): Schema {
  return object({ items: arrayOf(item), totalItems: total })
}

const kindList = object({
  kind: text('The kind with List behind it.'),
  apiVersion: text(),
  metadata: object({ resourceVersion: text(), remainingItemCount: integer() }, ['remainingItemCount']),
  items: arrayOf(kubeObject),
  totalItems: total,
})

function listed(list: Schema): { readonly 200: Answer } {
  return {
    200: {
      description: 'A page; with watch=true, events.',
      content: { 'application/json': { schema: { anyOf: [list, watchEvent] } } },
    },
  }
}

/** A list of the platform, `{items, totalItems}`, or one as Kubernetes has it. */
export function listOperation(
  summary: string,
  {
    form,
    own = [],
    segments = [],
  }: { form: 'items' | 'kind'; own?: readonly Parameter[]; segments?: readonly Parameter[] },
): Operation {
  return {
    summary,
    parameters: [...segments, ...listParameters(own)],
    answers: { ...listed(form === 'items' ? pageOf(kubeObject) : kindList), ...kubeErrors(404, 410) },
    security: ['bearer', 'clientCertificate'],
  }
}

export function objectOperation(
  summary: string,
  segments: readonly Parameter[],
  schema = kubeObject,
): Operation {
  return {
    summary,
    parameters: [...segments, ...objectParameters],
    answers: {
      200: { description: 'The object.', content: { 'application/json': { schema } } },
      ...kubeErrors(404),
    },
    security: ['bearer', 'clientCertificate'],
  }
}
