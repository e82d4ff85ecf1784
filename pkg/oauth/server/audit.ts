import type { Request } from 'express'
import { Status } from '../../apierrors/status.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { clientInfoOf } from './client-info.ts'
import { RejectionCause } from './error.ts'
import type { OAuthMetrics } from './metrics.ts'

/** Data of a request for the audit log, without credentials. */
export type TokenEvent = {
  /** Defaults to 'token'. */
  endpoint?: string
  client?: string
  grant?: string
  user?: string | undefined
  provider?: string | undefined
  /** The subject of an exchanged token. */
  subject?: string | undefined
  policy?: string | undefined
  /** The requested change of second factors. */
  action?: string
  /** The login that the request concerns. */
  sid?: string
}

const maxSubject = 256

export type TokenAudit = {
  readonly succeeded: (req: Request, event: TokenEvent) => void
  readonly failed: (req: Request, event: TokenEvent, error: unknown) => void
  /** Like `failed`, for a page that does not throw. @param reason one of a fixed set of words */
  readonly rejected: (req: Request, event: TokenEvent, reason: string) => void
  /** Logs that a valid credential needs another step. @param reason one of a fixed set of words */
  readonly pending: (req: Request, event: TokenEvent, reason: string) => void
}

/** Logs and counts results of the authentication endpoints, with a reason code. */
export function createTokenAudit({ logger, metrics }: { logger: Logger; metrics: OAuthMetrics }): TokenAudit {
  const toLine = (req: Request, event: TokenEvent) => ({
    audit: event.endpoint ?? 'token',
    id: req.headers['x-request-id'],
    sourceIp: clientInfoOf(req).address,
    client: event.client,
    grant: event.grant,
    user: event.user,
    provider: event.provider,
    subject: event.subject?.slice(0, maxSubject),
    policy: event.policy,
    action: event.action?.slice(0, maxSubject),
    sid: event.sid,
  })
  function rejected(req: Request, event: TokenEvent, reason: string): void {
    metrics.outcome(event.grant ?? event.endpoint, reason)
    logger.info({ ...toLine(req, event), outcome: 'failure', reason }, 'request rejected')
  }
  return {
    rejected,
    succeeded(req, event) {
      metrics.outcome(event.grant ?? event.endpoint, 'success')
      logger.info({ ...toLine(req, event), outcome: 'success' }, 'request granted')
    },
    failed(req, event, error) {
      const rejection =
        error instanceof Status && error.cause instanceof RejectionCause ? error.cause : undefined
      const reason = rejection?.message ?? 'error'
      const { user = event.user, provider = event.provider } = rejection ?? {}
      rejected(req, { ...event, user, provider }, reason)
    },
    pending(req, event, reason) {
      metrics.outcome(event.grant ?? event.endpoint, reason)
      logger.info({ ...toLine(req, event), outcome: 'pending', reason }, 'authorization pending')
    },
  }
}
