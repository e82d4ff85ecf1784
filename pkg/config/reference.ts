import { clientReference } from './client-reference.ts'
import type { Config } from './config.ts'
import { environment } from './env.ts'
import { flatten, toLive } from './live.ts'

/** One member of the configuration file, for docs/config.md. The default is read from the parser itself. */
export type ConfigEntry = { readonly path: string; readonly text: string }

/** Every member, in the order of the file. */
export const reference: readonly ConfigEntry[] = [
  {
    path: 'groupDomain',
    text: 'Domain of every API group, label and annotation that Kapis serves. `kubesphere.io` makes it answer on the paths of KubeSphere.',
  },
  { path: 'listen.address', text: 'Address of the HTTPS listener.' },
  { path: 'listen.port', text: 'Port of the HTTPS listener; 0 for any free one.' },
  {
    path: 'listen.trustedProxies',
    text: 'Addresses and CIDRs of proxies before the front: a list, or comma-separated in the environment. Their X-Forwarded-For is believed, from the right as far as it names other trusted ones; without them the address of a caller is that of the connection.',
  },
  {
    path: 'http.enabled',
    text: 'A plain HTTP listener beside it, for platforms that expose port 80. Tokens cross the network in clear text: only behind something that ends TLS.',
  },
  { path: 'http.address', text: 'Address of the plain HTTP listener.' },
  { path: 'http.port', text: 'Port of the plain HTTP listener.' },
  {
    path: 'kubernetes.kubeconfig',
    text: 'How to reach the orchestrator; empty for the service account of the Pod.',
  },
  { path: 'kubernetes.namespace', text: 'Namespace of the Secrets that Kapis keeps, and of its Service.' },
  { path: 'service.name', text: 'Service that the APIService points at; the serving certificate names it.' },
  { path: 'service.port', text: 'Port of that Service.' },
  {
    path: 'tls.dnsNames',
    text: 'More DNS names for the serving certificate, beside the Service and localhost.',
  },
  { path: 'tls.ipAddresses', text: 'More IP addresses for the serving certificate, beside 127.0.0.1.' },
  {
    path: 'tls.rolloverSeconds',
    text: 'When the certificate authority is replaced: for how long the new one is trusted before it signs, and the old one after it has signed last, in seconds. Who trusts the authority by a file has that long to fetch the new one.',
  },
  {
    path: 'tls.certFile',
    text: 'A serving certificate that somebody else looks after, as PEM with what leads to its authority; with `tls.keyFile` and `tls.caFile`. Read again when it changes.',
  },
  { path: 'tls.keyFile', text: 'Its private key.' },
  {
    path: 'tls.caFile',
    text: 'The authorities that kube-apiserver is to trust: `caBundle` of the APIService. While one is replaced, both.',
  },
  {
    path: 'oauth.issuer',
    text: 'URL of the token issuer as its users reach it: `iss` of every token. Changing it ends every login.',
  },
  { path: 'oauth.productName', text: 'What the login pages call the platform.' },
  { path: 'oauth.socket', text: 'Unix socket between the front and the token listener.' },
  {
    path: 'oauth.audience',
    text: 'Audience of access tokens: what the JWT authenticator of kube-apiserver is told to accept.',
  },
  { path: 'oauth.accessTokenSeconds', text: 'Life of an access token, in seconds.' },
  {
    path: 'oauth.refreshTokenSeconds',
    text: 'Life of a refresh token, in seconds; a login that is not refreshed for so long ends.',
  },
  {
    path: 'oauth.loginMaxAgeSeconds',
    text: 'The longest that a login goes on, in seconds, however often it is refreshed.',
  },
  {
    path: 'oauth.clockSkewSeconds',
    text: 'How far clocks may differ when the times of a token are judged, in seconds.',
  },
  {
    path: 'oauth.keyRotationSeconds',
    text: 'For how long a key signs tokens before a new one does, in seconds. The new one is published an hour before, or a quarter of this time if that is less; the old one is kept for as long as a token of it is good.',
  },
  {
    path: 'oauth.clients',
    text: 'OAuth clients: a list with the members that are described below. Without it there are two: `kapis` with the secret `kapis`, and `kapis-cli`, the public one of `kapis login` (redirectURIs: [http://127.0.0.1/callback]). Name your own in production, `kapis-cli` among them if people are to use `kapis login`.',
  },
  {
    path: 'cache.idleSeconds',
    text: 'How long a kind that nobody asks for any more is still followed, in seconds. The aggregated kinds always are.',
  },
  {
    path: 'cache.maxMegabytes',
    text: 'Estimated memory of all kinds that are followed, in MiB. Beyond it those that are not in use are let go, and no further one is begun (503).',
  },
  {
    path: 'authentication.multipleLogin',
    text: 'Whether a user may have several logins at once. Without it a new one ends the others; personal access tokens stay.',
  },
  {
    path: 'authentication.authenticateRateLimiterMaxTries',
    text: 'So many wrong passwords within the duration lock a user, or a name that nobody has.',
  },
  {
    path: 'authentication.authenticateRateLimiterMaxTriesPerAddress',
    text: 'So many wrong passwords from one source address (IPv6: one /64) within the duration lock the address. Behind it there may be many people.',
  },
  {
    path: 'authentication.authenticateRateLimiterDurationSeconds',
    text: 'The window in which wrong passwords are counted, and how long a lock lasts, in seconds.',
  },
  {
    path: 'authentication.loginHistoryRetentionPeriodSeconds',
    text: 'How long login records are kept, in seconds.',
  },
  {
    path: 'authentication.loginHistoryMaximumEntries',
    text: 'How many login records are kept for each user.',
  },
  {
    path: 'limits.requestsInFlight',
    text: 'Reading requests that are answered at the same time, at most; 0 for no limit. One user has at most a quarter of them. Further requests wait for up to a quarter of `limits.requestSeconds`, users by turns, and are then refused with 429. Members of `system:masters`, and kube-apiserver itself, are exempt.',
  },
  {
    path: 'limits.mutatingRequestsInFlight',
    text: 'The same for requests that write. A request with a body counts once the body is there.',
  },
  {
    path: 'limits.longRunningRequests',
    text: 'Watches, followed logs, `exec` and other upgraded connections, at most; 0 for no limit. One user has at most a quarter of them; further ones are refused with 429.',
  },
  {
    path: 'limits.requestSeconds',
    text: 'How long a request may go without the head of an answer before it is 504, in seconds; a shorter `?timeout=` counts. What is served as a watch, a followed log or an upgraded connection has no limit.',
  },
  {
    path: 'limits.stallSeconds',
    text: 'How long an answer may make no progress because its client does not read it, in seconds; then the connection is closed.',
  },
  {
    path: 'limits.headersSeconds',
    text: 'How long a client may take to send the head of a request, in seconds; then 408.',
  },
  { path: 'limits.headerKilobytes', text: 'Size of the head of a request at most, in KiB; then 431.' },
  {
    path: 'audit.path',
    text: 'File of the audit log, JSON lines of audit.k8s.io/v1 Events; `-` for standard output; empty for none.',
  },
  {
    path: 'audit.policyFile',
    text: 'Policy of audit.k8s.io/v1, as kube-apiserver reads it. Empty: metadata of everything but reads of discovery and health.',
  },
  { path: 'audit.maxMegabytes', text: 'Size at which the file is renamed and begun anew, in MiB.' },
  { path: 'audit.maxBackups', text: 'How many renamed files are kept.' },
  {
    path: 'audit.bufferEvents',
    text: 'Events that may wait for a slow disk. More are dropped and counted, or refused (see `audit.whenFull`).',
  },
  {
    path: 'audit.whenFull',
    text: '`drop` the event and count it, or `refuse` requests (503) until it can be written.',
  },
  {
    path: 'tracing.endpoint',
    text: 'Where spans are sent, by OTLP over HTTP (protobuf): `http://collector:4318`, to which `/v1/traces` is added, or a URL with a path of its own. Empty: nothing is traced.',
  },
  {
    path: 'tracing.samplingRatePerMillion',
    text: 'Of a million requests so many are traced, as in the TracingConfiguration of Kubernetes. A trace that a privileged caller began is continued, sampled or not, as it says.',
  },
  {
    path: 'tracing.caFile',
    text: 'PEM file with authorities that the endpoint is trusted by, beside those that Node.js knows.',
  },
  { path: 'accessLog', text: 'One log line for each request. At log level debug there always is one.' },
  {
    path: 'logs.store',
    text: 'Where log lines are kept: none (the log API answers 503), embedded (a folder, for one replica) or opensearch.',
  },
  {
    path: 'logs.queryTimeoutSeconds',
    text: 'A question about logs that takes longer is given up with 504, in seconds.',
  },
  { path: 'logs.exportLimit', text: 'Lines of one export at most.' },
  {
    path: 'logs.embedded.folder',
    text: 'Folder of the embedded store: a volume of its own, for one process at a time.',
  },
  { path: 'logs.embedded.retentionDays', text: 'Days (UTC) whose lines are kept, today included.' },
  {
    path: 'logs.embedded.retentionMegabytes',
    text: 'What stored lines may take on the disk; the oldest files go first. Leave a tenth of the volume free.',
  },
  {
    path: 'logs.embedded.memoryMegabytes',
    text: 'What the processes of the embedded store may take of memory.',
  },
  {
    path: 'logs.opensearch.url',
    text: 'OpenSearch 1 to 3 or Elasticsearch 7.10 to 9, such as `https://opensearch:9200`.',
  },
  { path: 'logs.opensearch.username', text: 'User for basic authentication; empty for none.' },
  { path: 'logs.opensearch.password', text: 'Its password.' },
  { path: 'logs.opensearch.apiKey', text: 'An API key instead of user and password.' },
  {
    path: 'logs.opensearch.caFile',
    text: 'PEM file with the authority of its certificate; empty for those that Node.js knows.',
  },
  {
    path: 'logs.opensearch.indexPrefix',
    text: 'Indices are `<prefix>-YYYY.MM.DD`, as Fluent Bit names them with Logstash_Format: what it has collected there is found.',
  },
  { path: 'logs.events.enabled', text: 'Whether events of the orchestrator are followed and kept.' },
  { path: 'logs.events.retentionDays', text: 'Days (UTC) whose events are kept, today included.' },
  {
    path: 'logs.events.retentionMegabytes',
    text: 'What they may take on the disk of the embedded store, in MiB.',
  },
  { path: 'logs.auditing.enabled', text: 'Whether what goes into the audit log is kept here too.' },
  { path: 'logs.auditing.retentionDays', text: 'Days (UTC) whose audit events are kept, today included.' },
  {
    path: 'logs.auditing.retentionMegabytes',
    text: 'What they may take on the disk of the embedded store, in MiB.',
  },
  {
    path: 'registries.caFile',
    text: 'File with authorities (PEM) that image registries are trusted by, beside the public ones.',
  },
  {
    path: 'registries.trustedHosts',
    text: 'Registries, as host or host:port, that may lie at loopback or link-local addresses, which are refused otherwise: a list, or comma-separated.',
  },
  { path: 'logLevel', text: 'debug, info, warn or error.' },
  {
    path: 'shutdownDelaySeconds',
    text: 'How long to go on serving after SIGTERM with /readyz red, in seconds, until nobody sends new requests here.',
  },
]

/** docs/config.md, from the reference, the environment and the defaults of the parser. */
export function renderReference(defaults: Config): string {
  const followed = flatten(toLive(defaults))
  const variables = new Map(environment.map(({ path, name }) => [path, name]))
  const rows = reference.map(({ path, text }) => {
    const value = JSON.stringify(read(defaults, path.split('.')))
    const variable = variables.get(path)
    const cells = [
      `\`${path}\``,
      value === undefined ? '' : `\`${value}\``,
      variable === undefined ? '' : `\`${variable}\``,
      followed.has(path) ? 'yes' : 'no',
      text,
    ]
    return `| ${cells.join(' | ')} |`
  })
  return `# Configuration

<!-- Made by \`make update\` from pkg/config; \`make verify\` checks it. -->

Both programs read one YAML file, named with \`--config\`, then the environment, which wins, then their flags: \`--kubeconfig\`, \`--log-level\` or
\`-v\` with a number as components of Kubernetes take it, and for the front \`--bind-address\` and \`--secure-port\`. \`--help\` tells of them. Everything that is wrong is reported at once, each with its path, and the program does not start (exit code 1; 2 for
a flag that there is not). Unknown members are mistakes too.

A program goes on reading its file: within ten seconds after it has changed, and on SIGHUP. Members that are \`reloaded\` follow it
without a restart; the others, and what the environment or a flag says, are as they were at the start. The file is taken as a whole or not at
all: when anything in it is wrong the last good one stays, the log has every problem with its path, and the metric
\`kapis_config_last_reload_successful\` is 0. A file that is taken is one line of the log, which names the members that were \`followed\` and
those that \`needRestart\`.

In a cluster, \`kubectl edit\` of the ConfigMap that the Pods mount is followed within a minute or so, once the kubelet has it. The
manifests give each configuration a ConfigMap of its own: applied with another one they roll out new Pods, and every member is new.

| member | default | environment | reloaded | what it is |
|---|---|---|---|---|
${rows.join('\n')}

${clientReference}
Secrets are kept apart from the rest once they are read, so that a configuration can be printed.
`
}

function read(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return value
  if (typeof value !== 'object' || value === null) return undefined
  return read(new Map(Object.entries(value)).get(key), rest)
}
