import type { ErrorRequestHandler, Request, Response } from 'express'
import { Status } from '../../apierrors/status.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { sendErrorPage, sendServerErrorPage, takesHtml } from '../pages/error-page.ts'
import { invalidRequest, oauthError, renderOAuth, toOAuth } from './error.ts'

// The limit is well above that of a token, so that a token that is too long is reported as invalid.
export const formLimit = '256kb'

/**
 * Creates the error handler of the OAuth server. It writes errors as JSON or as a page, and logs
 * internal errors. Bearer endpoints always get JSON.
 */
export function toErrorHandler(logger: Logger, productName: string): ErrorRequestHandler {
  async function write({ req, res }: { req: Request; res: Response }, thrown: unknown): Promise<Status> {
    const status = toOAuth(thrown)
    if (!takesHtml(req) || status.code === 401) return renderOAuth(res, thrown)
    if (status.code >= 500) return sendServerErrorPage(res, productName, status)
    await sendErrorPage({ req, res }, { product: productName, error: status })
    return status
  }
  return async (error, req, res, next) => {
    if (res.headersSent) return next(error)
    const thrown = fromBodyParser(error)
    const status = await write({ req, res }, thrown)
    const id = req.headers['x-request-id']
    if (status.code >= 500)
      logger.error({ id, path: req.path, err: status.cause ?? status }, 'token request failed')
  }
}

/** Converts errors of the body parser of express, which contain a status. */
function fromBodyParser(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Status) return error
  const type = 'type' in error ? error.type : undefined
  if (type === 'entity.too.large')
    return oauthError(413, 'invalid_request', `the body is larger than ${formLimit}`)
  if (type === 'charset.unsupported') return oauthError(415, 'invalid_request', 'the body must be UTF-8')
  if (type === 'encoding.unsupported') {
    const description = 'the Content-Encoding must be gzip, deflate, br, zstd or identity'
    // RFC 9110 section 15.5.16: Accept-Encoding lists the supported encodings.
    return oauthError(415, 'invalid_request', description, {
      headers: { 'accept-encoding': 'gzip, deflate, br, zstd' },
    })
  }
  if (type === 'request.aborted' || type === 'request.size.invalid')
    return invalidRequest('the body is incomplete')
  // The parser reports invalid compressed data without a type.
  if ('status' in error && error.status === 400) return invalidRequest('failed to read the body')
  return error
}
