import type { Request, RequestHandler, Response } from 'express'
import type { TokenAudit, TokenEvent } from './audit.ts'

/** @param event the audit event of the request, to which the handler adds what it knows */
export type AuditedHandler = (req: Request, res: Response, event: TokenEvent) => Promise<void>

/** Wraps a handler: logs the result of each request under the name of its endpoint. */
export function withAudit(audit: TokenAudit, endpoint: string, handle: AuditedHandler): RequestHandler {
  return withErrorAudit(audit, endpoint, async (req, res, event) => {
    await handle(req, res, event)
    audit.succeeded(req, event)
  })
}

/** Wraps a handler that logs its results by itself: logs only its errors. */
export function withErrorAudit(
  audit: TokenAudit,
  endpoint: string,
  handle: AuditedHandler,
): (req: Request, res: Response) => Promise<void> {
  return async (req, res) => {
    const event: TokenEvent = { endpoint }
    try {
      await handle(req, res, event)
    } catch (error) {
      audit.failed(req, event, error)
      throw error
    }
  }
}
