import type { ClientMember } from './client.ts'

const members: readonly (readonly [ClientMember, string])[] = [
  ['name', 'What the client calls itself: `client_id`. Required.'],
  ['secret', 'What it proves that with. Required unless it is public.'],
  ['public', 'It cannot keep a secret (an application on a desk, a page in a browser). `false` by default.'],
  ['trusted', 'It is of the platform itself: it may use the password grant. `false` by default.'],
  [
    'grantMethod',
    'Whether users are asked before they are sent back to it: `auto` (never, the default), `prompt`, or `deny` (nobody is).',
  ],
  ['redirectURIs', 'Where users are sent with a code, each exactly as it will be asked for. `*` is refused.'],
  ['postLogoutRedirectURIs', 'Where they are sent after they have logged out, exactly.'],
  [
    'allowedOrigins',
    'Origins (`https://app.example.org`) whose pages in a browser may call the token, userinfo, revocation, introspection and device authorization endpoints (CORS). Those of the redirect URIs of a public client may without it. `*` is refused.',
  ],
  ['scopeRestrictions', 'The scopes that it can be granted; every one when there are none.'],
  [
    'grantTypes',
    '`authorization_code`, `refresh_token`, `urn:ietf:params:oauth:grant-type:device_code`, `password` (trusted clients only), `client_credentials` (needs `user`). All but the last by default. Without `refresh_token` it gets none, and its logins last as long as their access token.',
  ],
  ['user', 'The User as whom it acts with client_credentials.'],
  [
    'accessTokenMaxAgeSeconds',
    'Life of its access tokens, 60 to 86400. `oauth.accessTokenSeconds` by default.',
  ],
  [
    'accessTokenInactivityTimeoutSeconds',
    'How long after its access token has expired a login that is not used can still be refreshed. By default `oauth.refreshTokenSeconds` is the life of its refresh tokens.',
  ],
  ['loginMaxAgeSeconds', 'The longest that a login goes on. `oauth.loginMaxAgeSeconds` by default.'],
  ['idTokenSigningAlg', '`ES256` (the default) or `RS256`.'],
]

/** What docs/config.md says of OAuth clients. */
export const clientReference = `## OAuth clients

An entry of \`oauth.clients\` has these members. The same document, under the key \`configuration.yaml\` of a Secret in the namespace
of Kapis, makes a client without a restart: the type of the Secret is \`config.<group domain>/oauthclient\`, and its label
\`config.<group domain>/type: oauthclient\`. A client of the configuration wins over a Secret's of the same name, and of two Secrets
the older one. A Secret that is not right is named in the log with the member that is wrong; its client does not exist until it is
mended, and the others go on.

| member | what it is |
|---|---|
${members.map(([member, text]) => `| \`${member}\` | ${text} |`).join('\n')}
`
