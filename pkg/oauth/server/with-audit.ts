import type { Request, RequestHandler, Response } from 'express'
import type { TokenAudit, TokenEvent } from './audit.ts'

/** Wraps a handler: logs the result of each request under the name of its endpoint. */
export function withAudit(
  audit: TokenAudit,
  endpoint: string,
  handle: (req: Request, res: Response, event: TokenEvent) => Promise<void>,
): RequestHandler {
  return async (req, res) => {
    const event: TokenEvent = { endpoint }
    try {
      await handle(req, res, event)
    } catch (error) {
      audit.failed(req, event, error)
      throw error
    }
    audit.succeeded(req, event)
  }
}
