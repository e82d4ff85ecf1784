import { kubeErrors } from '../../../openapi/kube-errors.ts'
import {
  type Content,
  content,
  type Operation,
  ok,
  type Parameter,
  type Paths,
  segment,
} from '../../../openapi/operation.ts'
import { anyObject, arrayOf, boolean, integer, object, type Schema, text } from '../../../openapi/schema.ts'
import { logOperation } from '../../logs/description.ts'

const index = segment('index', 'Taken as agents send it; it means nothing here.')

function ingest(
  summary: string,
  { taken, answer, parameters = [] }: { taken: Content; answer: Content; parameters?: readonly Parameter[] },
): Operation {
  return {
    summary,
    description:
      'It takes the right to create `ingest` in the group. An answer of 200 says that the lines are on the disk of the store. Bodies may be compressed by gzip, deflate, zstd or snappy.',
    parameters,
    body: { content: taken },
    answers: {
      200: { description: 'What became of the lines.', content: answer },
      ...kubeErrors(408, 413, 415, 507),
    },
    security: ['bearer', 'clientCertificate', 'password'],
  }
}

const lines = text('One JSON object a line.')
const bulkAnswer = object(
  {
    took: integer(),
    errors: boolean(),
    duplicate: boolean('The same batch was stored before; nothing was stored again.'),
    items: arrayOf(anyObject('By action: status, and error, or `changed` of a line over a limit.')),
  },
  ['duplicate'],
)
const bulk = (parameters: readonly Parameter[]) =>
  ingest('Takes log lines as Elasticsearch’s _bulk does', {
    taken: content(
      [
        'application/x-ndjson',
        'application/json',
        'application/vnd.elasticsearch+json',
        'application/vnd.elasticsearch+x-ndjson',
      ],
      lines,
    ),
    answer: content(['application/json'], bulkAnswer),
    parameters,
  })

const linesAnswer = object(
  {
    accepted: integer(),
    rejected: integer(),
    duplicate: boolean('The same batch was stored before; nothing was stored again.'),
    errors: arrayOf(object({ line: integer('Counted from 1.'), reason: text() }), 'The first hundred.'),
    changed: arrayOf(
      object({ line: integer('Counted from 1.'), reasons: arrayOf(text()) }),
      'Lines that were stored with parts shortened or left out; the first hundred.',
    ),
  },
  ['duplicate', 'errors', 'changed'],
)
const jsonLines = ingest('Takes log lines as one JSON object a line', {
  taken: content(
    ['application/x-ndjson', 'application/jsonl', 'application/jsonlines', 'application/json', 'text/plain'],
    lines,
  ),
  answer: content(['application/json'], linesAnswer),
})

const partial: Schema = object(
  { partialSuccess: object({ rejectedLogRecords: text('A number.'), errorMessage: text() }) },
  ['partialSuccess'],
)
const otlp = ingest('Takes log lines by OTLP/HTTP', {
  taken: {
    ...content(['application/json'], anyObject('An ExportLogsServiceRequest.')),
    ...content(['application/x-protobuf'], {}),
  },
  answer: { ...content(['application/json'], partial), ...content(['application/x-protobuf'], {}) },
})

const loki: Operation = {
  summary: 'Takes log lines as Loki’s push does',
  description:
    'It takes the right to create `ingest` in the group. Protobuf without Content-Encoding is compressed by snappy. An answer of 204 says that all lines are on the disk of the store; 400 that some could not be taken, and the others are.',
  body: {
    content: {
      ...content(['application/json'], anyObject('A push of streams.')),
      ...content(['application/x-protobuf'], {}),
    },
  },
  answers: { 204: { description: 'All lines are stored.' }, ...kubeErrors(413, 415) },
  security: ['bearer', 'clientCertificate', 'password'],
}

const container = ['namespace', 'pod', 'container'].map(name => segment(name, `The ${name}.`))

/** `/kapis/logging.<group domain>/v1alpha2`: a row for each route of the face. */
export const loggingPaths = {
  '/cluster': { get: logOperation('Log lines of everything that the caller may see') },
  '/namespaces/{namespace}/pods/{pod}/containers/{container}': {
    get: logOperation('Log lines of one container', container),
  },
  '/ingest': {
    get: {
      summary: 'Says that clients and shippers of Elasticsearch can send here',
      description:
        'The URL of their configuration. What they ask for below it before they send (`_license`, `_cluster/health`, `_nodes`, `_ilm`, `_index_template`, `_ingest` and such) is answered too, and means nothing here.',
      answers: { ...ok(anyObject('Name, version and tagline.')), ...kubeErrors(404) },
      security: ['bearer', 'clientCertificate', 'password'],
    },
  },
  '/ingest/_bulk': { post: bulk([]), put: bulk([]) },
  '/ingest/{index}/_bulk': { post: bulk([index]), put: bulk([index]) },
  '/ingest/jsonlines': { post: jsonLines, put: jsonLines },
  '/ingest/v1/logs': { post: otlp, put: otlp },
  '/ingest/loki/api/v1/push': { post: loki, put: loki },
} satisfies Paths
