import { counter, type Registry } from '../../telemetry/metrics.ts'

export type OAuthMetrics = {
  /** @param grant of a known name; undefined when it did not come so far */
  readonly outcome: (grant: string | undefined, outcome: string) => void
}

export function createOAuthMetrics(registry: Registry): OAuthMetrics {
  const outcomes = counter(registry, {
    name: 'kapis_oauth_token_requests_total',
    help: 'Requests for tokens, by grant type and outcome: success, or the reason of the refusal.',
    labels: ['grant', 'outcome'],
  })
  return { outcome: (grant = '', outcome) => outcomes.inc({ grant, outcome }) }
}
