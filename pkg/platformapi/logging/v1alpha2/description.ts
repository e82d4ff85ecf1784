import { operation } from '../../../openapi/kube-errors.ts'
import {
  type Content,
  content,
  type Operation,
  ok,
  type Parameter,
  type Paths,
  query,
  segment,
} from '../../../openapi/operation.ts'
import { anyObject, arrayOf, boolean, integer, object, type Schema, text } from '../../../openapi/schema.ts'
import { logOperation } from '../../logs/description.ts'
import { logsqlOperation } from '../../logsql/description.ts'

const index = segment('index', 'Accepted for compatibility with log shippers, and ignored.')

function ingest(
  summary: string,
  {
    taken,
    response,
    parameters = [],
  }: { taken: Content; response: Content; parameters?: readonly Parameter[] },
): Operation {
  return operation(
    summary,
    { 200: { description: 'Result for each line.', content: response } },
    {
      description:
        'Requires the permission to create `ingest` in the group. Status 200 means that the lines are on the disk of the log store. Bodies may be compressed with gzip, deflate, zstd or snappy.',
      parameters,
      body: { content: taken },
      errors: [408, 413, 415, 507],
      schemes: ['password'],
    },
  )
}

const lines = text('One JSON object per line.')
const bulkResponse = object(
  {
    took: integer(),
    errors: boolean(),
    duplicate: boolean('The same batch was stored before; nothing was stored again.'),
    items: arrayOf(anyObject('By action: status, and error; or `changed` for a line over a limit.')),
  },
  ['duplicate'],
)
const bulk = (parameters: readonly Parameter[]) =>
  ingest('Ingests log lines, compatible with _bulk of Elasticsearch', {
    taken: content(
      [
        'application/x-ndjson',
        'application/json',
        'application/vnd.elasticsearch+json',
        'application/vnd.elasticsearch+x-ndjson',
      ],
      lines,
    ),
    response: content(['application/json'], bulkResponse),
    parameters,
  })

const document = (parameters: readonly Parameter[]) =>
  operation(
    'Ingests one log line, compatible with index of Elasticsearch',
    {
      201: {
        description: 'The line is on the disk of the log store.',
        content: content(['application/json'], anyObject('Index, ID and result.')),
      },
    },
    {
      description: 'Requires the permission to create `ingest` in the group.',
      parameters: [index, ...parameters],
      body: { content: content(['application/json'], anyObject('The document.')) },
      errors: [400, 408, 413, 415, 507],
      schemes: ['password'],
    },
  )
const id = segment('id', 'The ID of the document.')

const linesResponse = object(
  {
    accepted: integer(),
    rejected: integer(),
    duplicate: boolean('The same batch was stored before; nothing was stored again.'),
    errors: arrayOf(
      object({ line: integer('Counted from 1.'), reason: text() }),
      'The first hundred rejected lines.',
    ),
    changed: arrayOf(
      object({ line: integer('Counted from 1.'), reasons: arrayOf(text()) }),
      'The first hundred lines that were stored with truncated or omitted parts.',
    ),
  },
  ['duplicate', 'errors', 'changed'],
)
const jsonLines = ingest('Ingests log lines as one JSON object per line', {
  taken: content(
    [
      'application/x-ndjson',
      'application/jsonl',
      'application/jsonlines',
      'application/stream+json',
      'application/json',
      'text/plain',
    ],
    lines,
  ),
  response: content(['application/json'], linesResponse),
})

const partial: Schema = object(
  { partialSuccess: object({ rejectedLogRecords: text('A number.'), errorMessage: text() }) },
  ['partialSuccess'],
)
const otlp = ingest('Ingests log lines by OTLP/HTTP', {
  taken: {
    ...content(['application/json'], anyObject('An ExportLogsServiceRequest.')),
    ...content(['application/x-protobuf'], {}),
  },
  response: { ...content(['application/json'], partial), ...content(['application/x-protobuf'], {}) },
})

const loki = operation(
  'Ingests log lines, compatible with push of Loki',
  { 204: { description: 'All lines are stored.' } },
  {
    description:
      'Requires the permission to create `ingest` in the group. Protobuf without Content-Encoding is snappy-compressed. Status 204 means that all lines are on the disk of the log store; 400 that some were rejected and the others are stored.',
    body: {
      content: {
        ...content(['application/json'], anyObject('A push of streams.')),
        ...content(['application/x-protobuf'], {}),
      },
    },
    errors: [413, 415],
    schemes: ['password'],
  },
)

const container = ['namespace', 'pod', 'container'].map(name => segment(name, `The ${name}.`))

const inNamespace = [segment('namespace', 'The namespace.')]

function listRecordings(parameters: readonly Parameter[] = []): Operation {
  return operation(
    'Recorded sessions of exec and attach, the newest first',
    ok(anyObject('A SessionRecordingList.')),
    {
      description: 'Requires the permission to list `sessionrecordings` in the group.',
      parameters: [
        ...parameters,
        query('user', 'Users of the sessions, comma-separated.'),
        query('pod', 'Pods of the sessions.'),
        query('namespace', 'Namespaces of the sessions.'),
        query('start_time', 'Sessions that began at or after this time, in Unix seconds.', integer()),
        query('end_time', 'Sessions that began at or before this time, in Unix seconds.', integer()),
        query('limit', 'Number of sessions per page, at most 1000.', integer('', { default: 100 })),
        query('continue', 'The `metadata.continue` of the previous page.'),
      ],
      errors: [400, 429, 503, 504],
    },
  )
}

function getRecording(parameters: readonly Parameter[] = []): Operation {
  return operation(
    'A recorded session as an asciicast (version 2)',
    {
      200: {
        description: 'The recording.',
        content: content(
          ['application/x-asciicast'],
          text('A JSON object, and a JSON array for each event.'),
        ),
      },
    },
    {
      description: 'Requires the permission to get `sessionrecordings` in the group.',
      parameters: [...parameters, segment('name', 'The name of the recording.')],
      errors: [404, 429, 503, 504],
    },
  )
}

/** OpenAPI descriptions of `/kapis/logging.<group domain>/v1alpha2`. */
export const loggingPaths = {
  '/cluster': { get: logOperation('Log lines of all pods that the caller has access to') },
  '/namespaces/{namespace}/pods/{pod}/containers/{container}': {
    get: logOperation('Log lines of one container', container),
  },
  '/sessionrecordings': { get: listRecordings() },
  '/sessionrecordings/{name}': { get: getRecording() },
  '/namespaces/{namespace}/sessionrecordings': { get: listRecordings(inNamespace) },
  '/namespaces/{namespace}/sessionrecordings/{name}': { get: getRecording(inNamespace) },
  '/select/logsql/{endpoint}': { get: logsqlOperation, post: logsqlOperation },
  '/ingest': {
    get: operation(
      'Product information for clients and shippers of Elasticsearch',
      ok(anyObject('Name, version and tagline.')),
      {
        description:
          'The URL to configure in clients. Their requests below it before they send (`_license`, `_cluster/health`, `_nodes`, `_ilm`, `_index_template`, `_ingest` and others) are accepted and have no effect.',
        errors: [404],
        schemes: ['password'],
      },
    ),
  },
  '/ingest/_bulk': { post: bulk([]), put: bulk([]) },
  '/ingest/{index}/_bulk': { post: bulk([index]), put: bulk([index]) },
  '/ingest/{index}/_doc': { post: document([]) },
  '/ingest/{index}/_doc/{id}': { post: document([id]), put: document([id]) },
  '/ingest/{index}/_create/{id}': { post: document([id]), put: document([id]) },
  '/ingest/jsonlines': { post: jsonLines, put: jsonLines },
  '/ingest/v1/logs': { post: otlp, put: otlp },
  '/ingest/loki/api/v1/push': { post: loki, put: loki },
} satisfies Paths
