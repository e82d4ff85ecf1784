import type { Line } from '../../../logs/ingest/document.ts'
import { readExportRequestJson } from '../../../logs/ingest/otlp/json.ts'
import type { OtlpResource } from '../../../logs/ingest/otlp/message.ts'
import { readExportRequest, writeExportResponse } from '../../../logs/ingest/otlp/protobuf.ts'
import { toLines } from '../../../logs/ingest/otlp/records.ts'
import { WireError } from '../../../logs/ingest/otlp/wire.ts'
import type { AuthenticatedExchange } from '../../../request/exchange.ts'
import { collect, send, sendJson } from '../../../request/respond.ts'
import type { Turns } from '../../../request/turns.ts'
import { badRequest } from '../../../status/status.ts'
import { checkCount, type IngestMeans } from './batch.ts'
import { mediaTypeOf, readBody } from './body.ts'

const protobuf = 'application/x-protobuf'
const json = 'application/json'

/** OTLP/HTTP: what was not taken is told as a partial success, in the encoding of the request. */
export async function ingestOtlp(
  { limits, observe, take, turns }: IngestMeans,
  { req, res }: AuthenticatedExchange,
): Promise<void> {
  const body = await readBody(req, { mediaTypes: [json, protobuf], limitBytes: limits.batchBytes })
  const isJson = mediaTypeOf(req) !== protobuf
  await turns.next()
  const resources = isJson ? readExportRequestJson(body) : readExportRequest(body)
  const lines = await readLines(resources, resource => toLines(resource, limits), turns)
  checkCount(lines, limits)
  const { taken, problems } = await take(lines)
  observe('otlp', { taken, refused: problems.size })
  const [first] = [...problems].sort(([a], [b]) => a - b)
  const message = first === undefined ? '' : `record ${first[0] + 1}: ${first[1]}`
  if (!isJson) {
    return send(res, 200, writeExportResponse(problems.size, message), { 'content-type': protobuf })
  }
  const partialSuccess = { rejectedLogRecords: String(problems.size), errorMessage: message }
  sendJson(res, 200, first === undefined ? {} : { partialSuccess })
}

async function readLines(
  resources: Iterable<OtlpResource>,
  toLinesOf: (resource: OtlpResource) => Iterable<Line>,
  turns: Turns,
): Promise<Line[]> {
  function* all(): Generator<Line> {
    for (const resource of resources) yield* toLinesOf(resource)
  }
  try {
    return await collect(all(), turns)
  } catch (error) {
    if (error instanceof WireError)
      throw badRequest(`the body is no ExportLogsServiceRequest: ${error.message}`)
    throw error
  }
}
