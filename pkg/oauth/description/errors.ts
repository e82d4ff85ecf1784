import { type ApiResponse, json } from '../../openapi/operation.ts'
import { object, oneOfTexts, status, text } from '../../openapi/schema.ts'
import { oauthReasons } from '../server/error.ts'

const oauthError = object({ error: oneOfTexts([...oauthReasons]), error_description: text() }, [
  'error_description',
])

const meanings: Readonly<Record<number, string>> = {
  400: 'Invalid request; see error (RFC 6749 section 5.2).',
  401: 'Unknown client or invalid credential.',
  403: 'Not allowed for this caller.',
  404: 'Not found.',
  405: 'Method not allowed; the Allow header lists the supported ones.',
  409: 'Modified concurrently; start again.',
  413: 'The body is too large.',
  415: 'Unsupported media type.',
  429: 'Too many attempts; retry after the seconds in Retry-After.',
  500: 'Internal error.',
  503: 'A dependency is not available; retry after the seconds in Retry-After.',
}

// Every path can respond with these errors as a Kubernetes Status, before the request reaches its
// endpoint: for an invalid bearer token, or a path that two parsers could read differently.
const everywhere = [400, 401, 500, 503]

function toResponse(code: number, contentTypes: 'json' | 'page'): ApiResponse {
  const description = meanings[code]
  if (description === undefined) throw new Error(`no description for status ${code}`)
  const body = json(code <= 401 || code >= 500 ? { anyOf: [oauthError, status] } : oauthError)
  return {
    description,
    content: contentTypes === 'json' ? body : { ...body, 'text/html': { schema: text() } },
  }
}

/** Describes the error responses of an endpoint for programs, with additional codes. */
export function oauthErrors(...codes: readonly number[]): Readonly<Record<string, ApiResponse>> {
  return Object.fromEntries([...everywhere, ...codes].map(code => [code, toResponse(code, 'json')]))
}

/** Describes the error responses of a page, as HTML; `codes` are additional status codes. */
export function pageErrors(...codes: readonly number[]): Readonly<Record<string, ApiResponse>> {
  return Object.fromEntries([...everywhere, ...codes].map(code => [code, toResponse(code, 'page')]))
}
