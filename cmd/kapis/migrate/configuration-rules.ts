import type { Problem } from '../../../pkg/config/config-error.ts'
import { readProviderConfig } from '../../../pkg/iam/identityprovider/config.ts'
import { providerTypes } from '../../../pkg/iam/identityprovider/provider-types.ts'
import { isRecord, membersOf } from '../../../pkg/kubeclient/object/object.ts'
import { toSeconds } from './duration.ts'
import type { Fields } from './kubesphere-configuration.ts'
import { putLifetimes } from './lifetimes.ts'
import { gone, note, put, type Rule, type Translation, translate } from './translate-keys.ts'

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
  signKey: gone(signing),
  signKeyData: gone(signing),
  clients: list(client),
  identityProviders: list(provider),
}

function provider(item: Fields, path: string, to: Translation): void {
  if (item.mappingMethod === 'mixed')
    note(to, `${path}.mappingMethod`, 'mixed became manual: users link their accounts themselves')
  const document = item.mappingMethod === 'mixed' ? { ...item, mappingMethod: 'manual' } : item
  if (typeof item.name !== 'string' || item.name === '')
    note(to, `${path}.name`, 'is required; the provider is omitted')
  else if (providerTypes.some(type => type === item.type)) addProvider(document, path, to)
  else {
    const name = JSON.stringify(item.name)
    const supported = providerTypes.join(', ')
    note(to, `${path}.type`, `Kapis has no such provider, ${name} is omitted; supported: ${supported}`)
  }
}

/** Adds a provider, with notes on everything that Kapis would reject in its Secret. */
function addProvider(document: Fields, path: string, to: Translation): void {
  if (to.providers.some(({ name }) => name === document.name))
    note(to, `${path}.name`, 'another provider has this name; Kapis uses one of them')
  to.providers.push(document)
  const { rootCA, redirectURL } = membersOf(document.provider)
  if (redirectURL !== undefined)
    note(to, `${path}.provider.redirectURL`, 'must be a URL of Kapis: docs/identity-providers.md, "Consoles"')
  if (rootCA !== undefined)
    note(to, `${path}.provider.rootCA`, 'is a file of ks-apiserver: use rootCAData, or mount it in Kapis')
  const problems: Problem[] = []
  readProviderConfig(document, problems)
  for (const { path: member, message } of problems)
    if (member !== 'provider.rootCA') note(to, `${path}.${member}`, `rejected by Kapis: ${message}`)
}

const keep: Rule = (value, path, to) => put(to, path.slice(path.lastIndexOf('.') + 1), value)

const clientOptions: Readonly<Record<string, Rule>> = {
  name: keep,
  secret: keep,
  grantMethod: keep,
  scopeRestrictions: keep,
  redirectURIs(value, path, to) {
    const uris = Array.isArray(value) ? value.filter(uri => typeof uri === 'string') : []
    if (uris.includes('*'))
      note(to, path, 'Kapis rejects *: list each URI, otherwise browser logins at this client fail')
    const named = uris.filter(uri => uri !== '*')
    if (named.length > 0) put(to, 'redirectURIs', named)
  },
  accessTokenMaxAge: seconds('accessTokenMaxAgeSeconds', 60),
  accessTokenInactivityTimeout: seconds('accessTokenInactivityTimeoutSeconds', 60),
  respondWithChallenges: gone('Kapis always shows a login page, never a challenge'),
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

const elsewhere = gone('is not part of Kapis; its component continues to run separately')

const authentication: Readonly<Record<string, Rule>> = {
  authenticateRateLimiterMaxTries: number('authentication.authenticateRateLimiterMaxTries'),
  authenticateRateLimiterDuration: seconds('authentication.authenticateRateLimiterDurationSeconds'),
  maximumClockSkew: seconds('oauth.clockSkewSeconds', 0),
  loginHistoryRetentionPeriod: seconds('authentication.loginHistoryRetentionPeriodSeconds'),
  loginHistoryMaximumEntries: number('authentication.loginHistoryMaximumEntries'),
  multipleLogin: flag('authentication.multipleLogin'),
  jwtSecret: gone(signing),
  kubectlImage: gone('Kapis starts no Pods for terminals'),
  oauthOptions(value, path, to) {
    section(oauthOptions)(value, path, to)
    if (isRecord(value)) putLifetimes(value, path, to)
  },
}

const logging: Readonly<Record<string, Rule>> = {
  host(value, path, to) {
    if (typeof value !== 'string' || value === '') return note(to, path, 'no log store is configured')
    put(to, 'logs.store', 'opensearch')
    put(to, 'logs.opensearch.url', value)
  },
  basicAuth: gone('a user name is enough: logs.opensearch.username'),
  username: text('logs.opensearch.username'),
  password: text('logs.opensearch.password'),
  indexPrefix: text('logs.opensearch.indexPrefix'),
  exportLogsLimit: number('logs.exportLimit'),
  version: gone('not needed: Kapis works with all supported versions'),
}

/** Rules for all keys of kubesphere.yaml of KubeSphere 3.4. */
export const rules: Readonly<Record<string, Rule>> = {
  authentication: section(authentication),
  authorization: gone('Kapis always uses Kubernetes RBAC'),
  logging: section(logging),
  kubernetes: gone('Kapis uses the service account of its Pod, unless kubernetes.kubeconfig is set'),
  cache: gone('Kapis keeps its state in Kubernetes objects and needs no Redis'),
  ldap: gone('was for the DevOps component; use an LDAPIdentityProvider for logins with a directory'),
  auditing: gone(
    'audit.path and audit.policyFile configure the audit log of Kapis; searches use the log store of Kapis',
  ),
  multicluster(value, path, to) {
    const { enable } = membersOf(value)
    if (enable !== true && enable !== 'true')
      return note(to, path, 'Kapis serves the cluster that it runs in')
    put(to, 'multicluster.enabled', true)
    note(
      to,
      path,
      'Clusters with an agent (type: proxy) and federated objects are not served: docs/clusters.md',
    )
  },
  terminal: gone('Kapis starts no Pods for terminals; kubectl exec goes through kapis-apiserver'),
  events: gone('Kapis collects and searches events with its own log store: logs.events'),
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
export const optionNames = [rules, authentication, logging, oauthOptions, clientOptions].flatMap(Object.keys)
