import { counter, gauge, type Registry } from '../telemetry/metrics.ts'

export type OAuthMetrics = { readonly answered: (code: number) => void }

export function createOAuthMetrics(registry: Registry, pendingHashes: () => number): OAuthMetrics {
  const answers = counter(registry, {
    name: 'kapis_oauth_token_requests_total',
    help: 'Answers of the token endpoint, by status code.',
    labels: ['code'],
  })
  gauge(registry, {
    name: 'kapis_oauth_password_hashes_pending',
    help: 'Password hashes under way and waiting.',
    collect: metric => metric.set(pendingHashes()),
  })
  return { answered: code => answers.inc({ code: String(code) }) }
}
