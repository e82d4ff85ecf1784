import { type Fields, object, optionalSeconds, type Problem, text, texts } from './fields.ts'

/** The grant types that a client can be allowed (RFC 6749, RFC 8628). */
export const grantTypes = [
  'authorization_code',
  'refresh_token',
  'password',
  'client_credentials',
  'urn:ietf:params:oauth:grant-type:device_code',
] as const
export type GrantType = (typeof grantTypes)[number]

/**
 * An OAuth client (RFC 6749 section 2), from the configuration or from a Secret: the members are those of KubeSphere 4's
 * client Secrets and a few more. Its secret is kept apart, so that a client can be printed.
 */
export type ClientConfig = {
  readonly name: string
  /** It cannot keep a secret, and has none. */
  readonly public: boolean
  /** It is of the platform itself: users may type their passwords into it (the password grant). */
  readonly trusted: boolean
  /** Whether users are asked before they are sent back to it: never, each for himself, or nobody is sent there. */
  readonly grantMethod: 'auto' | 'prompt' | 'deny'
  readonly redirectURIs: readonly string[]
  readonly postLogoutRedirectURIs: readonly string[]
  /** Origins whose pages may read responses to the client (CORS), besides those of a public client's redirect URIs. */
  readonly allowedOrigins: readonly string[]
  /** The scopes that it can be granted; every one when there are none. */
  readonly scopeRestrictions: readonly string[]
  readonly grantTypes: readonly GrantType[]
  /** The User as whom it acts with client_credentials. */
  readonly user?: string
  /** In seconds; where one is not given the configuration's own holds. */
  readonly accessTokenMaxAgeSeconds?: number
  /** How long after its access token has expired a login that is not used can still be refreshed. */
  readonly accessTokenInactivityTimeoutSeconds?: number
  readonly loginMaxAgeSeconds?: number
  readonly idTokenSigningAlg: 'ES256' | 'RS256'
}

/** A client and what it proves itself with; a public one has nothing. */
export type RegisteredClient = { readonly client: ClientConfig; readonly secret: string | undefined }

/** The client that consoles and scripts of the platform know. */
export const defaultClient: ClientConfig = {
  name: 'kapis',
  public: false,
  trusted: true,
  grantMethod: 'auto',
  redirectURIs: [],
  postLogoutRedirectURIs: [],
  allowedOrigins: [],
  scopeRestrictions: [],
  grantTypes: [
    'authorization_code',
    'refresh_token',
    'urn:ietf:params:oauth:grant-type:device_code',
    'password',
  ],
  idTokenSigningAlg: 'ES256',
}

/**
 * `kapis login`: it runs on the machine of its user, so it is public. It is nobody's secret, so users are asked before a
 * program that only bears its name gets a login of theirs (RFC 8252 section 8.6).
 */
export const commandLineClient: ClientConfig = {
  ...defaultClient,
  name: 'kapis-cli',
  public: true,
  trusted: false,
  grantMethod: 'prompt',
  redirectURIs: ['http://127.0.0.1/callback'],
  grantTypes: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
}

/**
 * The log page of the front: a public client with one redirect URI, on the host of the issuer. It is of the platform itself,
 * and its codes go nowhere else, so nobody is asked.
 */
export function logPageClient(issuer: string): ClientConfig {
  return {
    ...defaultClient,
    name: 'kapis-logs',
    public: true,
    trusted: false,
    redirectURIs: [`${new URL(issuer).origin}/logs/callback`],
    grantTypes: ['authorization_code'],
  }
}

export const clientMembers = [
  'name',
  'secret',
  'public',
  'trusted',
  'grantMethod',
  'redirectURIs',
  'postLogoutRedirectURIs',
  'allowedOrigins',
  'scopeRestrictions',
  'grantTypes',
  'user',
  'accessTokenMaxAgeSeconds',
  'accessTokenInactivityTimeoutSeconds',
  'loginMaxAgeSeconds',
  'idTokenSigningAlg',
] as const
export type ClientMember = (typeof clientMembers)[number]

/** A client from a document of its own, such as a Secret carries. What is wrong goes to `problems`. */
export function parseClientDocument(input: unknown, problems: Problem[]): RegisteredClient {
  return parseClient(object(input, '', problems, clientMembers))
}

/** What is wrong goes to the problems of `entry`; what is returned counts only when there are none. */
export function parseClient(entry: Fields): RegisteredClient {
  const isPublic = entry.boolean('public', false)
  const trusted = entry.boolean('trusted', false)
  const life = (key: string, min: number, max: number) => {
    const seconds = optionalSeconds(entry, key, { min, max })
    return seconds === undefined ? {} : { [key]: seconds }
  }
  const user = text(entry, 'user', { default: '' })
  const client: ClientConfig = {
    name: text(entry, 'name', { pattern: /^[\x21-\x7e]{1,253}$/, is: 'up to 253 visible ASCII characters' }),
    public: isPublic,
    trusted,
    grantMethod: entry.choice('grantMethod', ['auto', 'prompt', 'deny']),
    redirectURIs: redirectUris(entry, 'redirectURIs', isPublic),
    postLogoutRedirectURIs: redirectUris(entry, 'postLogoutRedirectURIs', isPublic),
    allowedOrigins: origins(entry, 'allowedOrigins'),
    scopeRestrictions: texts(entry, 'scopeRestrictions'),
    grantTypes: parseGrantTypes(entry, { isPublic, trusted }),
    ...(user === '' ? {} : { user }),
    ...life('accessTokenMaxAgeSeconds', 60, 86_400),
    ...life('accessTokenInactivityTimeoutSeconds', 0, 31_536_000),
    ...life('loginMaxAgeSeconds', 60, 31_536_000),
    idTokenSigningAlg: entry.choice('idTokenSigningAlg', ['ES256', 'RS256']),
  }
  if (client.grantTypes.includes('client_credentials') && user === '')
    entry.problem('user', 'is required: the User as whom the client acts with client_credentials')
  if (isPublic && entry.value('secret') !== undefined)
    entry.problem('secret', 'must not be given: a public client cannot keep one')
  return { client, secret: isPublic ? undefined : text(entry, 'secret', {}) }
}

function parseGrantTypes(entry: Fields, { isPublic, trusted }: { isPublic: boolean; trusted: boolean }) {
  if (entry.value('grantTypes') === undefined) {
    return defaultClient.grantTypes.filter(type => type !== 'password' || (trusted && !isPublic))
  }
  const given = texts(entry, 'grantTypes')
  for (const type of given) {
    if (!grantTypes.some(known => known === type))
      entry.problem('grantTypes', `must be among ${grantTypes.join(', ')}, not ${JSON.stringify(type)}`)
  }
  if (given.includes('password') && (isPublic || !trusted))
    entry.problem('grantTypes', 'password is only for clients that are trusted and not public')
  if (given.includes('client_credentials') && isPublic)
    entry.problem('grantTypes', 'client_credentials is not for a public client, which cannot prove itself')
  return grantTypes.filter(type => given.includes(type))
}

/** Where users are sent is compared as it is written here: what could stand for more than one place is refused. */
function redirectUris(entry: Fields, key: string, isPublic: boolean): readonly string[] {
  const uris = texts(entry, key)
  for (const [i, uri] of uris.entries()) {
    const problem = redirectProblem(uri, isPublic)
    if (problem !== undefined) entry.problem(`${key}[${i}]`, `${problem}, not ${JSON.stringify(uri)}`)
  }
  return uris
}

/** As a browser writes the origin of a page (RFC 6454 section 6.2). Apps and extensions have schemes of their own. */
function origins(entry: Fields, key: string): readonly string[] {
  const given = texts(entry, key)
  for (const [i, origin] of given.entries()) {
    const isWeb = /^https?:/i.test(origin)
    const isOrigin = isWeb
      ? URL.parse(origin)?.origin === origin && !origin.includes('*')
      : /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+$/.test(origin)
    if (!isOrigin)
      entry.problem(
        `${key}[${i}]`,
        `must be an origin such as https://app.example.org, not ${JSON.stringify(origin)}`,
      )
  }
  return given
}

function redirectProblem(uri: string, isPublic: boolean): string | undefined {
  if (uri === '*') return 'must be one URI; * would send codes to anybody'
  if (!URL.canParse(uri) || /[\s\\*]/.test(uri)) return 'must be an absolute URI without wildcards'
  const { protocol, username, password } = new URL(uri)
  // RFC 6749 section 3.1.2: no fragment.
  if (uri.includes('#') || username !== '' || password !== '') return 'must have no fragment and no user'
  const isWeb = protocol === 'https:' || protocol === 'http:'
  // RFC 8252 section 7.1: schemes of native apps are reversed domain names, so javascript: and data: are not among them.
  const isNative = isPublic && /^[a-z][a-z0-9+-]*\.[a-z0-9.+-]+:$/.test(protocol)
  return isWeb || isNative
    ? undefined
    : 'must be http(s), or for a public client a scheme of its own with a dot in it'
}
