/** The environment variables that override members of the configuration file; docs/config.md is made from this list. */
export const environment: readonly { readonly name: string; readonly path: string }[] = [
  { name: 'KAPIS_GROUP_DOMAIN', path: 'groupDomain' },
  { name: 'KAPIS_LISTEN_ADDRESS', path: 'listen.address' },
  { name: 'KAPIS_LISTEN_PORT', path: 'listen.port' },
  { name: 'KAPIS_TRUSTED_PROXIES', path: 'listen.trustedProxies' },
  { name: 'KAPIS_HTTP_ENABLED', path: 'http.enabled' },
  { name: 'KAPIS_HTTP_ADDRESS', path: 'http.address' },
  { name: 'KAPIS_HTTP_PORT', path: 'http.port' },
  { name: 'KAPIS_KUBECONFIG', path: 'kubernetes.kubeconfig' },
  { name: 'KAPIS_NAMESPACE', path: 'kubernetes.namespace' },
  { name: 'KAPIS_SERVICE_NAME', path: 'service.name' },
  { name: 'KAPIS_SERVICE_PORT', path: 'service.port' },
  { name: 'KAPIS_TLS_DNS_NAMES', path: 'tls.dnsNames' },
  { name: 'KAPIS_TLS_IP_ADDRESSES', path: 'tls.ipAddresses' },
  { name: 'KAPIS_TLS_ROLLOVER_SECONDS', path: 'tls.rolloverSeconds' },
  { name: 'KAPIS_TLS_CERT_FILE', path: 'tls.certFile' },
  { name: 'KAPIS_TLS_KEY_FILE', path: 'tls.keyFile' },
  { name: 'KAPIS_TLS_CA_FILE', path: 'tls.caFile' },
  { name: 'KAPIS_OAUTH_ISSUER', path: 'oauth.issuer' },
  { name: 'KAPIS_OAUTH_PRODUCT_NAME', path: 'oauth.productName' },
  { name: 'KAPIS_OAUTH_SOCKET', path: 'oauth.socket' },
  { name: 'KAPIS_OAUTH_AUDIENCE', path: 'oauth.audience' },
  { name: 'KAPIS_MULTIPLE_LOGIN', path: 'authentication.multipleLogin' },
  {
    name: 'KAPIS_AUTHENTICATE_RATE_LIMITER_MAX_TRIES',
    path: 'authentication.authenticateRateLimiterMaxTries',
  },
  {
    name: 'KAPIS_AUTHENTICATE_RATE_LIMITER_MAX_TRIES_PER_ADDRESS',
    path: 'authentication.authenticateRateLimiterMaxTriesPerAddress',
  },
  {
    name: 'KAPIS_AUTHENTICATE_RATE_LIMITER_DURATION_SECONDS',
    path: 'authentication.authenticateRateLimiterDurationSeconds',
  },
  {
    name: 'KAPIS_LOGIN_HISTORY_RETENTION_PERIOD_SECONDS',
    path: 'authentication.loginHistoryRetentionPeriodSeconds',
  },
  { name: 'KAPIS_LOGIN_HISTORY_MAXIMUM_ENTRIES', path: 'authentication.loginHistoryMaximumEntries' },
  { name: 'KAPIS_AUDIT_PATH', path: 'audit.path' },
  { name: 'KAPIS_AUDIT_POLICY_FILE', path: 'audit.policyFile' },
  { name: 'KAPIS_TRACING_ENDPOINT', path: 'tracing.endpoint' },
  { name: 'KAPIS_TRACING_SAMPLING_RATE_PER_MILLION', path: 'tracing.samplingRatePerMillion' },
  { name: 'KAPIS_TRACING_CA_FILE', path: 'tracing.caFile' },
  { name: 'KAPIS_ACCESS_LOG', path: 'accessLog' },
  { name: 'KAPIS_LOGS_STORE', path: 'logs.store' },
  { name: 'KAPIS_LOGS_EMBEDDED_FOLDER', path: 'logs.embedded.folder' },
  { name: 'KAPIS_LOGS_OPENSEARCH_URL', path: 'logs.opensearch.url' },
  { name: 'KAPIS_LOGS_OPENSEARCH_USERNAME', path: 'logs.opensearch.username' },
  { name: 'KAPIS_LOGS_OPENSEARCH_CA_FILE', path: 'logs.opensearch.caFile' },
  { name: 'KAPIS_LOG_LEVEL', path: 'logLevel' },
  { name: 'KAPIS_SHUTDOWN_DELAY_SECONDS', path: 'shutdownDelaySeconds' },
]

/**
 * Lays the environment over a parsed configuration file: a variable that is set and not empty wins.
 * Paths that run through something that is no mapping are left for parseConfig to report.
 */
export function withEnvironment(file: unknown, env: Readonly<Record<string, string | undefined>>): unknown {
  let result: unknown = file ?? {}
  for (const { name, path } of environment) {
    const value = env[name]
    if (value !== undefined && value !== '') result = withMember(result, path.split('.'), value)
  }
  return result
}

function withMember(target: unknown, [key, ...rest]: readonly string[], value: string): unknown {
  if (key === undefined) return value
  if (typeof target !== 'object' || target === null || Array.isArray(target)) return target
  const members: Record<string, unknown> = { ...target }
  members[key] = withMember(members[key] ?? {}, rest, value)
  return members
}
