import { counter, type Registry } from '../../telemetry/metrics.ts'

export type OAuthMetrics = {
  /** @param grant a known name; undefined if the request failed before its grant was known */
  readonly outcome: (grant: string | undefined, outcome: string) => void
}

export function createOAuthMetrics(registry: Registry): OAuthMetrics {
  const outcomes = counter(registry, {
    name: 'kapis_oauth_token_requests_total',
    help: 'Token requests, by grant type and result: success, or the error.',
    labels: ['grant', 'outcome'],
  })
  return { outcome: (grant = '', outcome) => outcomes.inc({ grant, outcome }) }
}

export type BackchannelMetrics = {
  readonly outcome: (outcome: 'delivered' | 'refused' | 'failed' | 'dropped') => void
}

export function createBackchannelMetrics(registry: Registry): BackchannelMetrics {
  const outcomes = counter(registry, {
    name: 'kapis_oauth_backchannel_logouts_total',
    help: 'Logout tokens for clients, by result after all attempts: delivered, refused (the client responded with an error), failed (no response) or dropped (too many waiting).',
    labels: ['outcome'],
  })
  return { outcome: outcome => outcomes.inc({ outcome }) }
}
