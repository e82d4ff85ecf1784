import { counter, type Registry } from '../../telemetry/metrics.ts'

export type OAuthMetrics = {
  /** @param grant a known name; undefined if the request failed earlier */
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
