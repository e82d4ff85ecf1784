import { textOf } from '../kubeclient/object/object.ts'
import type { LogRecord } from '../logs/record.ts'
import { readFields } from './session.ts'

/** An asciicast event: seconds since the start, code (`o` output, `r` resize) and text. */
export type AsciicastEvent = readonly [seconds: number, code: 'o' | 'r', data: string]

const usualSize = { width: 80, height: 24 }
const resize = /^\[[^,]+,"r","(\d+)x(\d+)"\]$/m

/**
 * Converts the records of a session to an asciicast (version 2): lines with a JSON object (the
 * header), then a JSON array per event.
 */
export async function* toAsciicast(
  pages: AsyncIterable<readonly { readonly record: LogRecord }[]>,
): AsyncGenerator<string> {
  let start: Readonly<Record<string, unknown>> | undefined
  let isBegun = false
  for await (const records of pages) {
    let text = ''
    for (const { record } of records) {
      if (record.fields?.part === 'start') {
        start = readFields(record)
        continue
      }
      if (!isBegun) text += formatHeader(start ?? {}, record.log)
      isBegun = true
      text += `${record.log}\n`
    }
    if (text !== '') yield text
  }
  if (!isBegun && start !== undefined) yield formatHeader(start, '')
}

/** Formats the header. @param events first events, with the initial terminal size */
function formatHeader(start: Readonly<Record<string, unknown>>, events: string): string {
  const [, width, height] = resize.exec(events) ?? []
  const size = width === undefined ? usualSize : { width: Number(width), height: Number(height) }
  const { user, subresource, namespace, pod, container, command, startTimestamp } = start
  const place = [namespace, pod, container].map(textOf).filter(name => name !== '')
  const startedMs = Date.parse(textOf(startTimestamp))
  return `${JSON.stringify({
    version: 2,
    ...size,
    ...(Number.isNaN(startedMs) ? {} : { timestamp: Math.floor(startedMs / 1_000) }),
    title: `${textOf(user)}: ${textOf(subresource)} ${place.join('/')}`,
    ...(Array.isArray(command) && command.length > 0 ? { command: command.map(textOf).join(' ') } : {}),
  })}\n`
}
