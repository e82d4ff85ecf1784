import { z } from 'zod'
import type { Problem } from '../config-error.ts'
import {
  boolean,
  choice,
  optionalInteger,
  optionalText,
  requiredText,
  secretLine,
  section,
  texts,
} from '../option.ts'
import { parseDocument } from '../parse-document.ts'
import { publicKey } from './client-public-key.ts'
import { backchannelProblem, isOrigin, redirectProblem } from './client-uri.ts'

/** The grant types that a client can be allowed (RFC 6749, RFC 8628, RFC 8693). */
export const grantTypes = [
  'authorization_code',
  'refresh_token',
  'password',
  'client_credentials',
  'urn:ietf:params:oauth:grant-type:device_code',
  'urn:ietf:params:oauth:grant-type:token-exchange',
] as const
export type GrantType = (typeof grantTypes)[number]

/** The grant types of a client that names none. */
export const usualGrantTypes: readonly GrantType[] = [
  'authorization_code',
  'refresh_token',
  'urn:ietf:params:oauth:grant-type:device_code',
  'password',
]

/**
 * An OAuth client (RFC 6749 section 2) from the configuration or a Secret, with the fields of
 * KubeSphere 4 client Secrets and a few more.
 */
const members = section({
  name: requiredText({
    pattern: /^[\x21-\x7e]{1,253}$/,
    is: 'up to 253 visible ASCII characters',
    description: 'The `client_id`. Required.',
  }),
  secret: optionalText({
    ...secretLine,
    description:
      'The client secret. Required unless the client is `public` or has `jwks.keys`, `jwksURI` or `serviceAccounts`.',
  }),
  jwks: section({
    keys: z.array(publicKey, { error: 'must be a list' }).min(1, { error: 'must not be empty' }).meta({
      description:
        'Public keys (RFC 7517) for client authentication with `private_key_jwt` (RFC 7523) instead of a secret.',
    }),
  }).optional(),
  jwksURI: optionalText({
    pattern: /^https:\/\/[^#\s]+$/,
    is: 'an https URL',
    description: 'URL of its public keys, instead of `jwks.keys`.',
  }),
  serviceAccounts: z
    .array(
      z.string().regex(/^[a-z0-9-]+\/[a-z0-9.-]+$/, {
        error: ({ input }) => `must be namespace/name, not ${JSON.stringify(input)}`,
      }),
      { error: 'must be a list of strings' },
    )
    .min(1, { error: 'must not be empty' })
    .optional()
    .meta({
      description:
        'Service accounts (`namespace/name`) whose tokens for the audience `oauth.issuer` authenticate the client (`client_assertion`) instead of a secret.',
    }),
  public: boolean({
    default: false,
    description:
      'Whether it is a public client, which cannot keep a secret (a desktop or single-page application).',
  }),
  trusted: boolean({
    default: false,
    description: 'Whether the client is part of the platform: it may use the password grant.',
  }),
  grantMethod: choice({
    of: ['auto', 'prompt', 'deny'],
    default: 'auto',
    description:
      'Consent of users: `auto` (not required), `prompt` (required), or `deny` (no logins at this client).',
  }),
  redirectURIs: texts({
    description: 'Allowed redirect URIs, compared exactly. `*` is rejected.',
  }),
  postLogoutRedirectURIs: texts({
    description: 'Allowed redirect URIs after a logout, compared exactly.',
  }),
  backchannelLogoutURI: optionalText({
    description:
      'URL to which Kapis posts a logout token when a login of the client ends (OpenID Connect Back-Channel Logout 1.0): https, or http for a loopback address.',
  }),
  backchannelLogoutSessionRequired: boolean({
    default: false,
    description:
      'Whether the client relies on `sid` in logout tokens. Needs `backchannelLogoutURI`. Every logout token of Kapis has `sub` and `sid`.',
  }),
  allowedOrigins: texts({
    description:
      'Origins (`https://app.example.org`) whose pages in a browser may call the token, userinfo, revocation, introspection and device authorization endpoints (CORS). The origins of the redirect URIs of a public client are always allowed. `*` is rejected.',
  }),
  scopeRestrictions: texts({
    description: 'Scopes that the client may request; all if empty.',
  }),
  grantTypes: z
    .array(
      z.enum(grantTypes, {
        error: ({ input }) => `must be among ${grantTypes.join(', ')}, not ${JSON.stringify(input)}`,
      }),
      { error: 'must be a list of strings' },
    )
    .optional()
    .meta({
      description:
        '`authorization_code`, `refresh_token`, `urn:ietf:params:oauth:grant-type:device_code`, `password` (trusted clients only), `client_credentials` (needs `user`), `urn:ietf:params:oauth:grant-type:token-exchange` (needs `oauth.tokenExchange`). All but the last two by default. Without `refresh_token` the client gets no refresh tokens, and its logins end with their access token.',
    }),
  user: optionalText({ description: 'The User that the client acts as with client_credentials.' }),
  accessTokenMaxAgeSeconds: optionalInteger({
    min: 60,
    max: 86_400,
    description: 'Lifetime of its access tokens, 60 to 86400 seconds. `oauth.accessTokenSeconds` by default.',
  }),
  accessTokenInactivityTimeoutSeconds: optionalInteger({
    min: 0,
    max: 31_536_000,
    description:
      'How long an unused login can still be refreshed after its access token has expired. By default the lifetime of refresh tokens is `oauth.refreshTokenSeconds`.',
  }),
  loginMaxAgeSeconds: optionalInteger({
    min: 60,
    max: 31_536_000,
    description: 'Maximum age of a login. `oauth.loginMaxAgeSeconds` by default.',
  }),
  idTokenSigningAlg: choice({
    of: ['RS256', 'ES256'],
    default: 'RS256',
    description:
      'Signature algorithm of its ID tokens. Every client supports RS256 (OpenID Connect Core section 15.1).',
  }),
})
type ClientSection = z.output<typeof members>

/** A client without its secret, which can be printed. */
export type ClientConfig = Readonly<
  Omit<
    ClientSection,
    | 'secret'
    | 'grantTypes'
    | 'redirectURIs'
    | 'postLogoutRedirectURIs'
    | 'allowedOrigins'
    | 'scopeRestrictions'
  >
> & {
  readonly redirectURIs: readonly string[]
  readonly postLogoutRedirectURIs: readonly string[]
  /** Allowed CORS origins, in addition to those of the redirect URIs of a public client. */
  readonly allowedOrigins: readonly string[]
  readonly scopeRestrictions: readonly string[]
  readonly grantTypes: readonly GrantType[]
}

/** A client and its secret; a public client has none. */
export type RegisteredClient = { readonly client: ClientConfig; readonly secret: string | undefined }

export const client = members.superRefine(check).transform(toRegistered)
export const clientFields = members.shape

/** Parses a client from a separate document such as a Secret; undefined if it is invalid. */
export function parseClientDocument(input: unknown, problems: Problem[]): RegisteredClient | undefined {
  return parseDocument(client, input, problems)
}

function check(client: ClientSection, { addIssue }: z.core.$RefinementCtx<ClientSection>): void {
  const problem = (path: readonly (string | number)[], message: string) =>
    addIssue({ code: 'custom', path: [...path], message })
  const isPublic = client.public
  for (const key of ['redirectURIs', 'postLogoutRedirectURIs'] as const) {
    for (const [i, uri] of client[key].entries()) {
      const wrong = redirectProblem(uri, isPublic)
      if (wrong !== undefined) problem([key, i], `${wrong}, not ${JSON.stringify(uri)}`)
    }
  }
  for (const [key, message] of backchannelProblems(client)) problem([key], message)
  for (const [i, origin] of client.allowedOrigins.entries()) {
    if (!isOrigin(origin))
      problem(
        ['allowedOrigins', i],
        `must be an origin such as https://app.example.org, not ${JSON.stringify(origin)}`,
      )
  }
  for (const [key, message] of grantProblems(client)) problem([key], message)
  if (isPublic && client.secret !== undefined)
    problem(['secret'], 'must not be set: a public client cannot keep a secret')
  const others = assertionMembers.filter(key => client[key] !== undefined)
  for (const key of isPublic ? others : []) problem([key], 'is not for a public client')
  if (client.jwks !== undefined && client.jwksURI !== undefined)
    problem(['jwksURI'], 'must not be set together with jwks')
  if (!isPublic && !client.secret && others.length === 0) problem(['secret'], 'is required')
}

const assertionMembers = ['jwks', 'jwksURI', 'serviceAccounts'] as const

function grantProblems({
  grantTypes: configured = [],
  user,
  ...settings
}: ClientSection): [keyof ClientSection, string][] {
  const problems: [keyof ClientSection, string][] = []
  if (configured.includes('password') && (settings.public || !settings.trusted))
    problems.push(['grantTypes', 'password is only for clients that are trusted and not public'])
  if (configured.includes('client_credentials') && settings.public)
    problems.push(['grantTypes', 'client_credentials is not for a public client, which cannot prove itself'])
  if (configured.includes('client_credentials') && !user)
    problems.push(['user', 'is required: the User that the client acts as with client_credentials'])
  return problems
}

/** Validates the options of back-channel logout (OIDC Back-Channel Logout 1.0 section 2.2). */
function backchannelProblems({
  backchannelLogoutURI: uri,
  backchannelLogoutSessionRequired: isSidRequired,
}: ClientSection): [keyof ClientSection, string][] {
  if (uri === undefined)
    return isSidRequired ? [['backchannelLogoutSessionRequired', 'requires backchannelLogoutURI']] : []
  const wrong = backchannelProblem(uri)
  return wrong === undefined ? [] : [['backchannelLogoutURI', `${wrong}, not ${JSON.stringify(uri)}`]]
}

function toRegistered({
  secret,
  user,
  grantTypes: configured,
  ...settings
}: ClientSection): RegisteredClient {
  const usual = usualGrantTypes.filter(type => type !== 'password' || (settings.trusted && !settings.public))
  return {
    client: {
      ...settings,
      ...(user ? { user } : {}),
      grantTypes: configured === undefined ? usual : grantTypes.filter(type => configured.includes(type)),
    },
    secret,
  }
}
