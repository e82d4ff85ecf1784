import { Status, unavailable } from '../apierrors/status.ts'
import type { Identity } from '../apirequest/identity/identity.ts'
import { mayBeLongRunning } from '../apirequest/long-running.ts'
import type { AuthenticatedExchange, Exchange } from '../apirequest/request-context.ts'
import { hooksOf } from '../httpserver/hooked-message.ts'
import { type Capture, captureRequest, captureResponse, withoutManagedFields } from './capture.ts'
import { toEvent } from './event.ts'
import type { Policy, Stage } from './policy.ts'
import { evaluatePolicy, type PolicyDecision } from './policy-evaluator.ts'
import { cappedLevel } from './redact.ts'

/** Receives the progress of one request. Each method is called once, when its stage is reached. */
export type AuditRecord = {
  /** Called after authentication. @param impersonated the user that the caller impersonates */
  readonly identified: (exchange: AuthenticatedExchange, impersonated: Identity | undefined) => void
  readonly allowed: () => void
  readonly failed: (error: unknown) => void
  readonly completed: (code: number) => void
}

export type AuditorOptions = {
  readonly policy: Policy
  readonly sink: { readonly isFull: boolean; readonly write: (event: string) => void }
  readonly whenFull: 'drop' | 'refuse'
}

export type Auditor = {
  /**
   * Starts the record of a request. Must be called in the event-loop turn in which the request
   * arrived.
   *
   * @throws Status 503 if the log is full and `whenFull` is refuse
   */
  readonly begin: (exchange: Exchange) => AuditRecord
}

const ignored: AuditRecord = {
  identified: () => undefined,
  allowed: () => undefined,
  failed: () => undefined,
  completed: () => undefined,
}

/** The auditor of a server without an audit log: records nothing. */
export const noAuditor: Auditor = { begin: () => ignored }

const writingMethods = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** Creates an auditor that writes Events of audit.k8s.io/v1 according to the policy. */
export function createAuditor({ policy, sink, whenFull }: AuditorOptions): Auditor {
  const wantsBodies = policy.rules.some(({ level }) => level === 'Request' || level === 'RequestResponse')
  return {
    begin(exchange) {
      if (whenFull === 'refuse' && sink.isFull) throw unavailable('failed to write the audit log')
      const { req, res, info } = exchange
      const receivedAt = new Date()
      // Read before the first await: kube-apiserver's connection may later serve another request.
      const sourceIPs = [req.socket.remoteAddress ?? '']
      const requestBody =
        wantsBodies && writingMethods.has(req.method ?? '') ? captureRequest(req) : undefined
      const annotations: Record<string, string> = {}
      let identity: Identity | undefined
      let impersonated: Identity | undefined
      let failure: Status | undefined
      let verdict: PolicyDecision | undefined
      let responseBody: Capture | undefined

      function emit(stage: Stage, code: number | undefined): void {
        verdict ??= evaluatePolicy(policy, info, identity)
        const level = cappedLevel(verdict.level, info)
        if (level === 'None' || verdict.omitStages.includes(stage)) return
        const shown = (capture: Capture | undefined) => {
          const json = capture?.json()
          return json !== undefined && verdict?.omitManagedFields ? withoutManagedFields(json) : json
        }
        const isLast = stage === 'ResponseComplete'
        sink.write(
          toEvent({
            ...{ exchange, level, receivedAt, at: new Date(), stage, identity, impersonated, sourceIPs },
            ...{ code, failure, annotations },
            ...(isLast && level !== 'Metadata' ? { requestObject: shown(requestBody) } : {}),
            ...(isLast && level === 'RequestResponse' ? { responseObject: shown(responseBody) } : {}),
          }),
        )
      }

      return {
        identified(authenticated, as) {
          identity = authenticated.identity
          impersonated = as
          if (authenticated.isAggregated) sourceIPs.unshift(...forwardedFor(req.headers['x-forwarded-for']))
          verdict = evaluatePolicy(policy, info, identity)
          const isLong = mayBeLongRunning(exchange)
          if (!isLong && cappedLevel(verdict.level, info) === 'RequestResponse')
            responseBody = captureResponse(res)
          emit('RequestReceived', undefined)
          if (isLong && verdict.level !== 'None') hooksOf(res).onHead(code => emit('ResponseStarted', code))
        },
        allowed() {
          annotations['authorization.k8s.io/decision'] = 'allow'
        },
        failed(error) {
          if (!(error instanceof Status)) return
          failure = error
          if (error.code === 403) {
            annotations['authorization.k8s.io/decision'] = 'forbid'
            annotations['authorization.k8s.io/reason'] = error.message
          }
        },
        completed: code => emit('ResponseComplete', code),
      }
    },
  }
}

/** Returns at most 16 addresses of X-Forwarded-For. Only kube-apiserver is trusted to send it. */
function forwardedFor(header: string | string[] | undefined): readonly string[] {
  return String(header ?? '')
    .split(',')
    .map(address => address.trim())
    .filter(Boolean)
    .slice(0, 16)
}
