import { type Fields, integer, text, texts } from '../../config/fields.ts'
import { readTrust, type Trust, trustKeys } from './trust.ts'

/** What every provider has in common that sends the browser away: we are a client (an "app") there. */
export type AppConfig = {
  readonly clientId: string
  /** '' for a public client. */
  readonly clientSecret: string
  /** '' for our own callback. */
  readonly redirectUrl: string
  readonly scopes: readonly string[]
  readonly endpoint: Readonly<Record<EndpointKey, string>>
  readonly trust: Trust
  /** For each of the steps that are ours: finding the provider, and finishing a login. */
  readonly timeoutMs: number
}

export const endpointKeys = ['authURL', 'tokenURL', 'userInfoURL', 'jwksURL', 'endSessionURL'] as const
export type EndpointKey = (typeof endpointKeys)[number]

export const appKeys: readonly string[] = [
  'clientID',
  'clientSecret',
  'redirectURL',
  'scopes',
  'endpoint',
  'readTimeout',
  ...trustKeys,
]

const timeout = { default: 10_000, min: 100, max: 25_000 }

/** @param provider read with `appKeys` */
export function readAppConfig(
  provider: Fields,
  defaults: { readonly scopes: readonly string[]; readonly endpoint: Partial<Record<EndpointKey, string>> },
): AppConfig {
  const trust = readTrust(provider)
  const endpoint = provider.object('endpoint', endpointKeys)
  const at = (key: EndpointKey) => url(endpoint, key, { trust, default: defaults.endpoint[key] ?? '' })
  return {
    clientId: text(provider, 'clientID', {}),
    clientSecret: text(provider, 'clientSecret', { default: '' }),
    redirectUrl: url(provider, 'redirectURL', { default: '' }),
    scopes: provider.value('scopes') === undefined ? defaults.scopes : texts(provider, 'scopes'),
    endpoint: {
      authURL: at('authURL'),
      tokenURL: at('tokenURL'),
      userInfoURL: at('userInfoURL'),
      jwksURL: at('jwksURL'),
      endSessionURL: at('endSessionURL'),
    },
    trust,
    timeoutMs: integer(provider, 'readTimeout', timeout),
  }
}

/** With `trust` it is a server of the provider's, and has to be one that can be verified. */
export function url(fields: Fields, key: string, rule: { trust?: Trust; default?: string }): string {
  const given = text(fields, key, rule.default === undefined ? {} : { default: rule.default })
  if (given === '') return ''
  const parsed = URL.parse(given)
  const isPlain = parsed?.protocol === 'http:' && rule.trust?.isVerified !== true
  if (parsed === null || parsed.hash !== '' || parsed.username !== '' || parsed.password !== '')
    fields.problem(key, 'must be a URL without user and fragment')
  else if (parsed.protocol !== 'https:' && !isPlain)
    fields.problem(key, 'must begin with https://, unless insecureSkipVerify is true')
  return given
}
