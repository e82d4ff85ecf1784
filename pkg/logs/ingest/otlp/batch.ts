import { badRequest } from '../../../apierrors/status.ts'
import { WireError } from '../../../protobuf/wire.ts'
import type { IngestLimits } from '../limits.ts'
import type { Line } from '../line/document.ts'
import type { BatchReading, LineChanges, Problems } from '../raw-batch.ts'
import { readExportRequestJson } from './json.ts'
import { readExportRequest, writeExportResponse } from './protobuf.ts'
import { toLines } from './records.ts'

/**
 * Reads an OTLP/HTTP request. The response reports rejected and changed records as a partial
 * success, in the encoding of the request.
 */
export function readOtlp(body: Buffer, encoding: 'json' | 'protobuf', limits: IngestLimits): BatchReading {
  const isJson = encoding === 'json'
  return {
    lines: linesOf(body, isJson, limits),
    *respond(problems, changes, isRepeat) {
      const message = isRepeat && problems.size === 0 ? repeated : toMessage(problems, changes)
      if (!isJson) return yield writeExportResponse(problems.size, message)
      const partialSuccess = { rejectedLogRecords: String(problems.size), errorMessage: message }
      yield `${JSON.stringify(message === '' ? {} : { partialSuccess })}\n`
    },
  }
}

function* linesOf(body: Buffer, isJson: boolean, limits: IngestLimits): Generator<Line> {
  try {
    const groups = isJson ? readExportRequestJson(body, limits) : readExportRequest(body, limits)
    yield* toLines(groups, limits)
  } catch (error) {
    if (!(error instanceof WireError)) throw error
    throw badRequest(`the body is not a valid ExportLogsServiceRequest: ${error.message}`)
  }
}

const repeated = 'the same batch was stored before: nothing was stored again'

/** Returns a message about the first rejected, else the first changed record; or ''. */
function toMessage(problems: Problems, changes: LineChanges): string {
  const [first] = [...problems].sort(([a], [b]) => a - b)
  if (first !== undefined) return `record ${first[0] + 1}: ${first[1].reason}`
  const [changed] = changes
  return changed === undefined
    ? ''
    : `record ${changed[0] + 1} was stored with changes: ${changed[1].join(', ')}`
}
