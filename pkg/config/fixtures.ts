import type { Config } from './config.ts'
import { commandLineClient, defaultClient } from './sections/client.ts'

/** The default configuration. */
export const defaults: Config = {
  groupDomain: 'kapis.io',
  listen: { address: '0.0.0.0', port: 9443, trustedProxies: [] },
  http: { enabled: false, address: '0.0.0.0', port: 9080 },
  kubernetes: { kubeconfig: '', namespace: 'kapis-system' },
  service: { name: 'kapis', port: 443 },
  tls: { dnsNames: [], ipAddresses: [], rolloverSeconds: 86_400, certFile: '', keyFile: '', caFile: '' },
  oauth: {
    issuer: 'https://localhost:9443/oauth',
    productName: 'Kapis',
    socket: '/run/kapis/oauth.sock',
    audience: 'kapis.io',
    accessTokenSeconds: 7200,
    refreshTokenSeconds: 14_400,
    loginMaxAgeSeconds: 2_592_000,
    clockSkewSeconds: 10,
    keyRotationSeconds: 2_592_000,
    tokenExchange: [],
    clients: [defaultClient, commandLineClient],
  },
  cache: { idleSeconds: 600, maxMegabytes: 1_024, platformReads: 'cached', clusterLists: 'narrowed' },
  registries: { caFile: '', trustedHosts: [] },
  authentication: {
    multipleLogin: true,
    secondFactorGroups: [],
    basicForApis: false,
    constrainedImpersonation: 'auto',
    authenticateRateLimiterMaxTries: 10,
    authenticateRateLimiterMaxTriesPerAddress: 100,
    authenticateRateLimiterDurationSeconds: 600,
    loginHistoryRetentionPeriodSeconds: 604_800,
    loginHistoryMaximumEntries: 100,
  },
  limits: {
    ...{ requestsInFlight: 400, mutatingRequestsInFlight: 200, longRunningRequests: 8_192 },
    connections: 10_240,
    ...{ requestSeconds: 60, stallSeconds: 60 },
    ...{ headersSeconds: 30, headerKilobytes: 64, parameterKilobytes: 8 },
  },
  audit: {
    ...{ path: '', policyFile: '', maxMegabytes: 100, maxBackups: 10 },
    ...{ bufferEvents: 10_000, whenFull: 'drop' },
  },
  tracing: { endpoint: '', samplingRatePerMillion: 0, caFile: '' },
  accessLog: false,
  logs: {
    ...{ store: 'none', queryTimeoutSeconds: 30, exportLimit: 0 },
    embedded: {
      ...{ folder: '/var/lib/kapis/logs', retentionDays: 7 },
      ...{ retentionMegabytes: 20_480, memoryMegabytes: 512, namespaces: [] },
    },
    opensearch: { url: '', username: '', caFile: '', indexPrefix: 'fluentbit' },
    events: { enabled: true, retentionDays: 7, retentionMegabytes: 1024 },
    auditing: { enabled: true, retentionDays: 7, retentionMegabytes: 1024 },
    recordings: { policies: [], maxMegabytes: 64, retentionDays: 30, retentionMegabytes: 1024 },
  },
  logLevel: 'info',
  shutdownDelaySeconds: 15,
}
