import { integer, optionalTexts, requiredText, secretLine, section, text } from '../../config/option.ts'
import { type ReportIssue, readTrust, type Trust, trustOptions } from './tls-config.ts'

/** Settings of providers with a redirect, where Kapis is an OAuth client ("app"). */
export type AppConfig = {
  readonly clientId: string
  /** The client secret; '' for a public client. */
  readonly clientSecret: string
  /** The redirect URI; '' for the callback of Kapis. */
  readonly redirectUrl: string
  readonly scopes: readonly string[]
  readonly endpoint: Readonly<Record<EndpointKey, string>>
  readonly trust: Trust
  /** Timeout in milliseconds, separately for starting and for completing a login. */
  readonly timeoutMs: number
}

type EndpointKey = 'authURL' | 'tokenURL' | 'userInfoURL' | 'jwksURL' | 'endSessionURL'

const endpoint = (description: string) => text({ default: '', description })

export const appOptions = {
  clientID: requiredText({ description: 'OAuth client ID of Kapis at the provider.' }),
  clientSecret: text({
    ...secretLine,
    default: '',
    description: 'OAuth client secret of Kapis at the provider.',
  }),
  redirectURL: text({ default: '', description: 'Redirect URI; by default the callback of Kapis.' }),
  scopes: optionalTexts({ description: 'Scopes to request.' }),
  endpoint: section({
    authURL: endpoint('Authorization endpoint.'),
    tokenURL: endpoint('Token endpoint.'),
    userInfoURL: endpoint('Userinfo endpoint.'),
    jwksURL: endpoint('JWK Set with the keys of the ID tokens.'),
    endSessionURL: endpoint('End session endpoint, for logouts.'),
  }).prefault({}),
  readTimeout: integer({
    ...{ default: 10_000, min: 100, max: 25_000 },
    description: 'Timeout for discovery, and for completing a login, in milliseconds.',
  }),
  ...trustOptions,
}

type ProviderSection = Parameters<typeof readTrust>[0] & {
  readonly clientID: string
  readonly clientSecret: string
  readonly redirectURL: string
  readonly scopes?: readonly string[] | undefined
  readonly endpoint: Readonly<Record<EndpointKey, string>>
  readonly readTimeout: number
}

/** @param defaults default values for the type of the provider */
export function readAppConfig(
  section: ProviderSection,
  defaults: { readonly scopes: readonly string[]; readonly endpoint: Partial<Record<EndpointKey, string>> },
  reportIssue: ReportIssue,
): AppConfig {
  const trust = readTrust(section, reportIssue)
  const at = (key: EndpointKey) =>
    url(section.endpoint[key] || (defaults.endpoint[key] ?? ''), `endpoint.${key}`, reportIssue, trust)
  return {
    clientId: section.clientID,
    clientSecret: section.clientSecret,
    redirectUrl: url(section.redirectURL, 'redirectURL', reportIssue),
    scopes: section.scopes ?? defaults.scopes,
    endpoint: {
      authURL: at('authURL'),
      tokenURL: at('tokenURL'),
      userInfoURL: at('userInfoURL'),
      jwksURL: at('jwksURL'),
      endSessionURL: at('endSessionURL'),
    },
    trust,
    timeoutMs: section.readTimeout,
  }
}

/** Validates a URL; with `trust`, of a server whose TLS certificate must be verifiable. */
export function url(text: string, key: string, reportIssue: ReportIssue, trust?: Trust): string {
  if (text === '') return ''
  const parsed = URL.parse(text)
  const isPlain = parsed?.protocol === 'http:' && trust?.isVerified !== true
  if (parsed === null || parsed.hash !== '' || parsed.username !== '' || parsed.password !== '')
    reportIssue(key, 'must be a URL without a user or a fragment')
  else if (parsed.protocol !== 'https:' && !isPlain)
    reportIssue(key, 'must begin with https://, unless insecureSkipVerify is true')
  return text
}
