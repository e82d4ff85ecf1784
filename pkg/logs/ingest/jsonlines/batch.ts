import type { IngestLimits } from '../limits.ts'
import type { BatchReading, Problems } from '../raw-batch.ts'
import { type NumberedLine, parseJsonLines } from './parse.ts'

const maxListed = 100

/** Reads a request of Fluent Bit's http output; the response has counts and first problems. */
export function readJsonLines(body: Buffer, limits: IngestLimits): BatchReading {
  const numbers: number[] = []
  const toErrors = (problems: Problems) =>
    [...problems]
      .sort(([a], [b]) => a - b)
      .slice(0, maxListed)
      .map(([i, { reason }]) => ({ line: numbers[i] ?? i + 1, reason }))
  return {
    lines: number(parseJsonLines(body, limits), numbers),
    *respond(problems, changes, isRepeat) {
      const errors = problems.size === 0 ? {} : { errors: toErrors(problems) }
      const counts = { accepted: numbers.length - problems.size, rejected: problems.size }
      const changed = [...changes]
        .slice(0, maxListed)
        .map(([i, reasons]) => ({ line: numbers[i] ?? i + 1, reasons }))
      const repeat = isRepeat ? { duplicate: true } : {}
      yield `${JSON.stringify({ ...counts, ...repeat, ...errors, ...(changed.length === 0 ? {} : { changed }) })}\n`
    },
    rejection: problems => {
      const [first] = toErrors(problems)
      if (first === undefined || problems.size < numbers.length) return undefined
      return `none of ${numbers.length} lines was accepted; line ${first.line}: ${first.reason}`
    },
  }
}

function* number(lines: Iterable<NumberedLine>, numbers: number[]): Generator<NumberedLine> {
  for (const line of lines) {
    numbers.push(line.line)
    yield line
  }
}
