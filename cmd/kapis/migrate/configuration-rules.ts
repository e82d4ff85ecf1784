import { isRecord } from '../../../pkg/kubeclient/object/object.ts'
import { toSeconds } from './duration.ts'
import { provider } from './identity-provider.ts'
import type { Fields } from './kubesphere-configuration.ts'
import { putLifetimes } from './lifetimes.ts'
import { note, notMigrated, put, type Rule, type Translation, translate } from './translate-keys.ts'

/**
 * Returns the rule that converts a duration to seconds, at least `least`. 0 means unlimited in
 * KubeSphere, which Kapis does not support.
 */
function seconds(target: string, least = 1): Rule {
  return (value, path, to) => {
    const amount = toSeconds(value)
    if (amount === undefined) note(to, path, 'is not a duration; the default is used')
    else if (amount < least) note(to, path, `Kapis has no unlimited lifetimes: ${target} keeps its default`)
    else put(to, target, amount)
  }
}

/** Returns the rule for a number, which installers may write as text. */
function number(target: string): Rule {
  return (value, path, to) => {
    const amount = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
    if (Number.isInteger(amount)) put(to, target, amount)
    else note(to, path, 'is not a number; the default is used')
  }
}

function flag(target: string): Rule {
  return (value, path, to) => {
    if (value === true || value === 'true') put(to, target, true)
    else if (value === false || value === 'false') put(to, target, false)
    else note(to, path, 'is neither true nor false; the default is used')
  }
}

function text(target: string): Rule {
  return (value, path, to) => {
    if (typeof value === 'string') put(to, target, value)
    else note(to, path, 'is not a string; the default is used')
  }
}

function section(rules: Readonly<Record<string, Rule>>): Rule {
  return (value, path, to) => {
    if (isRecord(value)) translate(value, rules, path, to)
    else if (value !== null) note(to, path, 'is not a section')
  }
}

function list(each: (item: Fields, path: string, to: Translation) => void): Rule {
  return (value, path, to) => {
    if (value === null) return
    if (!Array.isArray(value)) return note(to, path, 'is not a list')
    for (const [index, item] of value.entries()) {
      if (isRecord(item)) each(item, `${path}[${index}]`, to)
      else note(to, `${path}[${index}]`, 'is not a section')
    }
  }
}

const signing = 'Kapis generates and rotates its own signing keys; existing tokens become invalid'

const oauthOptions: Readonly<Record<string, Rule>> = {
  issuer(value, path, to) {
    if (typeof value === 'string' && /^https:\/\//.test(value)) put(to, 'oauth.issuer', value)
    else note(to, path, 'set oauth.issuer to the https:// URL at which users reach Kapis')
  },
  // putLifetimes translates it.
  accessTokenMaxAge: () => undefined,
  accessTokenInactivityTimeout: () => undefined,
  signKey: notMigrated(signing),
  signKeyData: notMigrated(signing),
  clients: list(client),
  identityProviders: list(provider),
}

const keep: Rule = (value, path, to) => put(to, path.slice(path.lastIndexOf('.') + 1), value)

const clientOptions: Readonly<Record<string, Rule>> = {
  name: keep,
  secret: keep,
  grantMethod: keep,
  scopeRestrictions: keep,
  redirectURIs(value, path, to) {
    // KubeSphere also reads a text with commas as a list.
    const uriList = typeof value === 'string' ? value.split(',') : value
    const uris = Array.isArray(uriList) ? uriList.filter(uri => typeof uri === 'string') : []
    if (!Array.isArray(uriList) || uris.length < uriList.length)
      note(to, path, 'is not a list of strings; everything else is omitted')
    if (uris.includes('*'))
      note(to, path, 'Kapis rejects *: list each URI, otherwise browser logins at this client fail')
    const named = uris.filter(uri => uri !== '*')
    if (named.length > 0) put(to, 'redirectURIs', named)
  },
  accessTokenMaxAge: seconds('accessTokenMaxAgeSeconds', 60),
  accessTokenInactivityTimeout: seconds('accessTokenInactivityTimeoutSeconds', 60),
  respondWithChallenges: notMigrated('Kapis always shows a login page, never a challenge'),
}

function client(item: Fields, path: string, to: Translation): void {
  const own: Translation = { config: {}, providers: [], notes: to.notes }
  translate(item, clientOptions, path, own)
  if (typeof own.config.secret === 'string') {
    // In KubeSphere every client may use the password grant; in Kapis only trusted clients may.
    own.config.trusted = true
    note(
      to,
      path,
      'is trusted, which the password grant requires; remove `trusted` if the client does not use that grant',
    )
  }
  const clients =
    isRecord(to.config.oauth) && Array.isArray(to.config.oauth.clients) ? to.config.oauth.clients : []
  put(to, 'oauth.clients', [...clients, own.config])
}

const elsewhere = notMigrated('is not part of Kapis; its component continues to run separately')

const authentication: Readonly<Record<string, Rule>> = {
  authenticateRateLimiterMaxTries: number('authentication.authenticateRateLimiterMaxTries'),
  authenticateRateLimiterDuration: seconds('authentication.authenticateRateLimiterDurationSeconds'),
  maximumClockSkew: seconds('oauth.clockSkewSeconds', 0),
  loginHistoryRetentionPeriod: seconds('authentication.loginHistoryRetentionPeriodSeconds'),
  loginHistoryMaximumEntries: number('authentication.loginHistoryMaximumEntries'),
  multipleLogin: flag('authentication.multipleLogin'),
  jwtSecret: notMigrated(signing),
  kubectlImage: notMigrated('Kapis starts no Pods for terminals'),
  oauthOptions(value, path, to) {
    section(oauthOptions)(value, path, to)
    if (isRecord(value)) putLifetimes(value, path, to)
  },
}

/** Defaults of KubeSphere that Kapis does not have. */
const authenticationDefaults: Fields = {
  authenticateRateLimiterMaxTries: 5,
  authenticateRateLimiterDuration: '30m',
  multipleLogin: false,
}

const tunnel = notMigrated(
  'Kapis opens no tunnel to agents: docs/clusters.md, "Members that cannot be reached"',
)

const multicluster: Readonly<Record<string, Rule>> = {
  enable(value, path, to) {
    if (value !== true && value !== 'true') {
      note(to, path, 'Kapis serves only the cluster that it runs in')
      return
    }
    put(to, 'multicluster.enabled', true)
    note(
      to,
      path,
      'Clusters with an agent (type: proxy) and federated objects are not served: docs/clusters.md',
    )
  },
  hostClusterName(value, path, to) {
    if (value !== 'host') note(to, path, 'the name of this cluster is always "host"')
  },
  clusterRole: notMigrated('a Kapis with multicluster.enabled is the host; a member needs no option'),
  clusterName: notMigrated('a member does not know its name: the host has it in a Cluster'),
  clusterControllerResyncPeriod: notMigrated('members are checked about three times a minute'),
  proxyPublishService: tunnel,
  proxyPublishAddress: tunnel,
  agentImage: tunnel,
}

const logging: Readonly<Record<string, Rule>> = {
  host(value, path, to) {
    if (typeof value !== 'string' || value === '') return note(to, path, 'no log store is configured')
    put(to, 'logs.store', 'opensearch')
    put(to, 'logs.opensearch.url', value)
  },
  basicAuth: notMigrated('a user name is enough: logs.opensearch.username'),
  username: text('logs.opensearch.username'),
  password: text('logs.opensearch.password'),
  indexPrefix: text('logs.opensearch.indexPrefix'),
  exportLogsLimit: number('logs.exportLimit'),
  version: notMigrated('not needed: Kapis works with all supported versions'),
}

/** Rules for all keys of kubesphere.yaml of KubeSphere 3.4. */
export const rules: Readonly<Record<string, Rule>> = {
  authentication: (value, path, to) =>
    section(authentication)(isRecord(value) ? { ...authenticationDefaults, ...value } : value, path, to),
  authorization: notMigrated('Kapis always uses Kubernetes RBAC'),
  logging: section(logging),
  kubernetes: notMigrated('Kapis uses the service account of its Pod, unless kubernetes.kubeconfig is set'),
  cache: notMigrated('Kapis keeps its state in Kubernetes objects and needs no Redis'),
  ldap: notMigrated('was for the DevOps component; use an LDAPIdentityProvider for logins with a directory'),
  auditing: notMigrated(
    'audit.path and audit.policyFile configure the audit log of Kapis; searches use the log store of Kapis',
  ),
  multicluster: section(multicluster),
  terminal: notMigrated('Kapis starts no Pods for terminals; kubectl exec goes through kapis-apiserver'),
  events: notMigrated('Kapis collects and searches events with its own log store: logs.events'),
  monitoring: elsewhere,
  alerting: elsewhere,
  notification: elsewhere,
  network: elsewhere,
  devops: elsewhere,
  sonarqube: elsewhere,
  s3: elsewhere,
  openpitrix: elsewhere,
  servicemesh: elsewhere,
  metering: elsewhere,
  gateway: elsewhere,
  gpu: elsewhere,
  kubeedge: elsewhere,
  edgeruntime: elsewhere,
}

/** All names of options, in their usual case. */
export const optionNames = [
  rules,
  authentication,
  logging,
  multicluster,
  oauthOptions,
  clientOptions,
].flatMap(Object.keys)
