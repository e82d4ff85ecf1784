import { badRequest } from '../../../status/status.ts'
import type { Line } from '../document.ts'
import type { IngestLimits } from '../limits.ts'
import type { BatchReading, Problems } from '../raw-batch.ts'
import { readExportRequestJson } from './json.ts'
import { readExportRequest, writeExportResponse } from './protobuf.ts'
import { toLines } from './records.ts'
import { WireError } from './wire.ts'

/** OTLP/HTTP: what was not taken is told as a partial success, in the encoding of the request. */
export function readOtlp(body: Buffer, encoding: 'json' | 'protobuf', limits: IngestLimits): BatchReading {
  const isJson = encoding === 'json'
  return {
    lines: linesOf(body, isJson, limits),
    *answer(problems) {
      const message = toMessage(problems)
      if (!isJson) return yield writeExportResponse(problems.size, message)
      const partialSuccess = { rejectedLogRecords: String(problems.size), errorMessage: message }
      yield `${JSON.stringify(problems.size === 0 ? {} : { partialSuccess })}\n`
    },
  }
}

function* linesOf(body: Buffer, isJson: boolean, limits: IngestLimits): Generator<Line> {
  try {
    const resources = isJson ? readExportRequestJson(body) : readExportRequest(body)
    for (const resource of resources) yield* toLines(resource, limits)
  } catch (error) {
    if (!(error instanceof WireError)) throw error
    throw badRequest(`the body is no ExportLogsServiceRequest: ${error.message}`)
  }
}

/** Of the first record that was not taken. */
function toMessage(problems: Problems): string {
  const [first] = [...problems].sort(([a], [b]) => a - b)
  return first === undefined ? '' : `record ${first[0] + 1}: ${first[1]}`
}
