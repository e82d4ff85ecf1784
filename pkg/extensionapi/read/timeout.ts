import { badRequest } from '../../apierrors/status.ts'
import type { QueryParameters } from '../../apirequest/query/query-parameters.ts'

const units = new Set(['ns', 'us', 'µs', 'μs', 'ms', 's', 'm', 'h'])

/**
 * Rejects an invalid `timeout` with the message of kube-apiserver. A valid one has no effect, since
 * reads are served from memory and end in time.
 *
 * @throws Status 400
 */
export function checkTimeout(query: QueryParameters): void {
  const text = query.get('timeout') ?? ''
  if (text === '') return
  const why = durationFault(text)
  if (why !== undefined) throw badRequest(`invalid timeout specified in the request URL - time: ${why}`)
}

/**
 * Returns the error of time.ParseDuration of Go, if any: a duration is a sequence of numbers with
 * units, such as 1h30m or -1.5s, or 0.
 */
function durationFault(text: string): string | undefined {
  const quoted = JSON.stringify(text)
  let rest = text.replace(/^[-+]/, '')
  if (rest === '0') return undefined
  if (rest === '') return `invalid duration ${quoted}`
  while (rest !== '') {
    const [part = '', unit = ''] = /^(?:\d+\.?\d*|\.\d+)([^\d.]*)/.exec(rest) ?? []
    if (part === '') return `invalid duration ${quoted}`
    if (unit === '') return `missing unit in duration ${quoted}`
    if (!units.has(unit)) return `unknown unit ${JSON.stringify(unit)} in duration ${quoted}`
    rest = rest.slice(part.length)
  }
  return undefined
}
