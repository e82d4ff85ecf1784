import { type ApiResponse, json, type Operation } from './operation.ts'
import { status } from './schema.ts'

const meanings: Readonly<Record<number, string>> = {
  400: 'The request is malformed; the message names the parameter and what is allowed.',
  401: 'No credential, or an invalid one.',
  403: 'Forbidden by Kubernetes RBAC.',
  404: 'Object or path not found.',
  405: 'Method not allowed; the Allow header lists the supported ones.',
  406: 'None of the media types in Accept is supported.',
  408: 'Timed out reading the request body.',
  409: 'The object exists already, or was modified in the meantime.',
  410: 'The resource version is too old; list again.',
  413: 'The body is too large.',
  415: 'Unsupported media type; the message lists the supported ones.',
  422: 'Invalid object; details.causes lists the fields.',
  429: 'Too many requests; retry after the seconds in Retry-After.',
  500: 'Internal error; the server logs the cause under the Audit-Id.',
  503: 'A dependency is not available; retry after the seconds in Retry-After.',
  504: 'The request timed out.',
  507: 'No storage space left.',
}

/** Status codes that the filters may return for every request. */
const everywhere = [400, 429, 500, 503, 504]

function toResponses(codes: readonly number[]): Readonly<Record<string, ApiResponse>> {
  return Object.fromEntries(
    codes.map(code => {
      const description = meanings[code]
      if (description === undefined) throw new Error(`no description for status ${code}`)
      return [code, { description, content: json(status) }]
    }),
  )
}

/**
 * Returns the error responses of an operation that requires authentication and authorization, each
 * with a Status as body.
 *
 * @param codes additional status codes
 */
export function kubeErrors(...codes: readonly number[]): Readonly<Record<string, ApiResponse>> {
  return toResponses([...everywhere, 401, 403, ...codes])
}

/** Returns the error responses of a public operation. */
export function publicErrors(...codes: readonly number[]): Readonly<Record<string, ApiResponse>> {
  return toResponses([...everywhere, ...codes])
}

const callers = ['bearer', 'clientCertificate'] as const

/**
 * Describes an operation for authenticated callers that kube-apiserver authorizes.
 *
 * @param success the responses of a successful request, by status code
 */
export function operation(
  summary: string,
  success: Operation['responses'],
  more: Omit<Operation, 'summary' | 'responses' | 'security'> & {
    /** Status codes of errors in addition to those of every operation. */
    readonly errors?: readonly number[]
    /** Authentication schemes in addition to those of every operation. */
    readonly schemes?: Operation['security']
  } = {},
): Operation {
  const { errors = [], schemes = [], ...rest } = more
  return {
    ...{ summary, ...rest },
    responses: { ...success, ...kubeErrors(...errors) },
    security: [...callers, ...schemes],
  }
}
