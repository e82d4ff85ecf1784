import type { QueryParameters } from './query-parameters.ts'
import type { RequestInfo } from './request-info.ts'

const verbs = new Set(['watch', 'proxy'])
const subresources = new Set(['attach', 'exec', 'proxy', 'portforward'])

/**
 * Whether a request may rightly last for hours: kube-apiserver's own reading, but that a log which is not followed ends by
 * itself. Such requests have no deadline and take no place among those in flight.
 */
export function isLongRunning(info: RequestInfo, query: QueryParameters): boolean {
  if (!info.isResource) return false
  if (verbs.has(info.verb) || subresources.has(info.subresource)) return true
  // Under the platform's prefix a live tail is a parameter of the log API, whatever its path.
  return (info.subresource === 'log' || isPlatform(info.prefix)) && isTrue(query.first('follow'))
}

function isPlatform(prefix: string): boolean {
  return prefix === 'kapis' || prefix === 'kapi'
}

function isTrue(value: string | null): boolean {
  return value !== null && value !== 'false' && value !== '0'
}
