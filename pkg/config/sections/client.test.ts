import { generateKeyPairSync } from 'node:crypto'
import { expect } from 'chai'
import type { Problem } from '../config-error.ts'
import { defaultClient } from './built-in-clients.ts'
import { type ClientConfig, clientFields, grantTypes, parseClientDocument } from './client.ts'

function parse(input: unknown) {
  const problems: Problem[] = []
  return { ...parseClientDocument(input, problems), problems }
}

const confidential = { name: 'console', secret: 'hunter2' }
const device = 'urn:ietf:params:oauth:grant-type:device_code'
const usual: ClientConfig = {
  ...defaultClient,
  name: 'console',
  trusted: false,
  grantTypes: ['authorization_code', 'refresh_token', device],
}

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
const invalidKey = 'must be a valid public key, of at least 2048 bits for RSA'
const unusableKeys: readonly (readonly [object, string, string])[] = [
  [{ kty: 'oct', k: 'hunter2' }, '.kty', 'must be RSA, EC or OKP'],
  [privateKey.export({ format: 'jwk' }), '', 'must be a public key, without the member d'],
  [publicKey.export({ format: 'jwk' }), '', invalidKey],
  [{ kty: 'RSA' }, '', invalidKey],
  [{ kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }, '', invalidKey],
  [{ kty: 'OKP', crv: 'Ed25519' }, '', invalidKey],
]

describe('parseClientDocument', () => {
  const everything = {
    trusted: true,
    grantMethod: 'prompt',
    redirectURIs: ['https://a.example.org/cb?x=1', 'http://console.local:30880/cb'],
    postLogoutRedirectURIs: ['https://a.example.org/'],
    backchannelLogoutURI: 'https://a.example.org/logout?x=1',
    backchannelLogoutSessionRequired: true,
    allowedOrigins: ['https://a.example.org', 'http://localhost:5173', 'capacitor://localhost'],
    scopeRestrictions: ['openid'],
    grantTypes: ['password', 'client_credentials'],
    user: 'robot',
    accessTokenMaxAgeSeconds: 600,
    accessTokenInactivityTimeoutSeconds: 0,
    loginMaxAgeSeconds: 60,
    idTokenSigningAlg: 'ES256',
  } as const satisfies Partial<ClientConfig>
  const valid: readonly [string, object, ClientConfig][] = [
    ['the required fields only', confidential, usual],
    [
      'a trusted client, which may use the password grant',
      { ...confidential, trusted: true },
      { ...usual, trusted: true, grantTypes: defaultClient.grantTypes },
    ],
    [
      'everything',
      {
        ...confidential,
        ...everything,
      },
      {
        name: 'console',
        public: false,
        ...everything,
      },
    ],
    [
      'a desktop application with a custom URI scheme',
      { name: 'cli', public: true, redirectURIs: ['org.example.app:/cb', 'http://[::1]/cb'] },
      { ...usual, name: 'cli', public: true, redirectURIs: ['org.example.app:/cb', 'http://[::1]/cb'] },
    ],
    ...['http://localhost:3000/logout', 'http://127.0.0.1/', 'http://[::1]:8080/logout'].map(
      (backchannelLogoutURI): [string, object, ClientConfig] => [
        `logout tokens to ${backchannelLogoutURI}`,
        { ...confidential, backchannelLogoutURI },
        { ...usual, backchannelLogoutURI },
      ],
    ),
    [
      'a public client that is trusted, but not for the password grant',
      { name: 'cli', public: true, trusted: true },
      { ...usual, name: 'cli', public: true, trusted: true },
    ],
  ]
  for (const [what, input, client] of valid) {
    it(`reads ${what}`, () => {
      const { problems, client: read, secret } = parse(input)
      expect(problems).to.deep.equal([])
      expect(read).to.deep.equal(client)
      expect(secret).to.equal(client.public ? undefined : 'hunter2')
    })
  }

  const uri = 'must be an absolute URI without wildcards'
  const bare = 'must not have a fragment or a user'
  const scheme =
    'must be an http(s) URL, or for a public client a private-use scheme that contains a dot (RFC 8252)'
  const redirect = (given: string, message: string): [string, object, Problem] => [
    `the redirect URI ${JSON.stringify(given)}`,
    { ...confidential, redirectURIs: ['https://a.example.org/', given] },
    { path: 'redirectURIs[1]', message: `${message}, not ${JSON.stringify(given)}` },
  ]
  const insecure = 'must be an https URL, or an http URL of a loopback address'
  const backchannel = (given: string, message: string): [string, object, Problem] => [
    `the back-channel logout URI ${JSON.stringify(given)}`,
    { ...confidential, backchannelLogoutURI: given },
    { path: 'backchannelLogoutURI', message: `${message}, not ${JSON.stringify(given)}` },
  ]
  const invalid: readonly [string, unknown, Problem][] = [
    redirect('*', 'must be one URI; * would send authorization codes to any site'),
    redirect('https://*.example.org/', uri),
    redirect('/cb', uri),
    redirect('https:a.example.org/', uri),
    redirect('https:/a.example.org/', uri),
    redirect('HTTP:///a.example.org/', uri),
    redirect('https://a.example.org:65536/', uri),
    redirect('http://[fe80::1%25eth0]/', uri),
    redirect('', uri),
    redirect('https://a.example.org\\@evil.org', uri),
    redirect(' https://a.example.org', uri),
    // Headers cannot contain this character.
    redirect('https://a.example.org/\u0142', uri),
    redirect('https://a.example.org/#x', bare),
    redirect('https://a@evil.org/', bare),
    redirect('javascript:alert(1)', scheme),
    redirect('data:text/html,x', scheme),
    redirect('file:///etc/passwd', scheme),
    redirect('org.example.app:/cb', scheme),
    backchannel('*', insecure),
    backchannel('/logout', insecure),
    backchannel('https://*.example.org/', uri),
    backchannel('http://localhost@a.example.org/', insecure),
    backchannel('http://localhost:1@a.example.org/', bare),
    backchannel('https://a.example.org/#x', bare),
    backchannel('https://a@a.example.org/', bare),
    backchannel('http://a.example.org/logout', insecure),
    backchannel('http://localhost.example.org/', insecure),
    backchannel('http://10.0.0.1/', insecure),
    [
      'a logout URI with a custom scheme in a public client',
      { name: 'cli', public: true, backchannelLogoutURI: 'org.example.app:/logout' },
      { path: 'backchannelLogoutURI', message: `${insecure}, not "org.example.app:/logout"` },
    ],
    [
      'a sid for logout tokens without a logout URI',
      { ...confidential, backchannelLogoutSessionRequired: true },
      { path: 'backchannelLogoutSessionRequired', message: 'requires backchannelLogoutURI' },
    ],
    [
      'a post-logout redirect URI with a wildcard',
      { ...confidential, postLogoutRedirectURIs: ['*'] },
      {
        path: 'postLogoutRedirectURIs[0]',
        message: 'must be one URI; * would send authorization codes to any site, not "*"',
      },
    ],
    ...[
      '*',
      'null',
      'a.example.org',
      'https://a.example.org/',
      'https://A.example.org',
      'https://a.example.org:443',
      'https://*.example.org',
      'https://a@example.org',
      'app:',
      'app://a/b',
    ].map((given): [string, object, Problem] => [
      `the origin ${given}`,
      { ...confidential, allowedOrigins: [given] },
      {
        path: 'allowedOrigins[0]',
        message: `must be an origin such as https://app.example.org, not ${JSON.stringify(given)}`,
      },
    ]),
    ['nothing', {}, { path: 'name', message: 'is required' }],
    [
      'an unknown field',
      { ...confidential, redirectUris: [] },
      { path: 'redirectUris', message: `unknown; supported: ${Object.keys(clientFields).join(', ')}` },
    ],
    [
      'a name that is not allowed in a header',
      { name: 'a b', secret: 'b' },
      { path: 'name', message: 'must be up to 253 visible ASCII characters, not "a b"' },
    ],
    ...['hunter2\n', '\thunter2', 'hunter2\0'].map((secret): [string, object, Problem] => [
      `the secret ${JSON.stringify(secret)}, which no client would send`,
      { name: 'a', secret },
      { path: 'secret', message: 'must be a text without line breaks and other control characters' },
    ]),
    ...unusableKeys.map(([key, path, message]): [string, object, Problem] => [
      `the key ${JSON.stringify(key)}`,
      { name: 'a', jwks: { keys: [key] } },
      { path: `jwks.keys[0]${path}`, message },
    ]),
    ['an empty secret', { name: 'a', secret: '' }, { path: 'secret', message: 'is required' }],
    ['a missing secret', { name: 'a' }, { path: 'secret', message: 'is required' }],
    [
      'a secret in a public client',
      { name: 'a', public: true, secret: 'hunter2' },
      { path: 'secret', message: 'must not be set: a public client cannot keep a secret' },
    ],
    [
      'an unknown grant method',
      { ...confidential, grantMethod: 'ask' },
      { path: 'grantMethod', message: 'must be one of auto, prompt, deny' },
    ],
    [
      'an unknown grant type',
      { ...confidential, grantTypes: ['implicit'] },
      { path: 'grantTypes[0]', message: `must be among ${grantTypes.join(', ')}, not "implicit"` },
    ],
    [
      'the password grant for a client that is not trusted',
      { ...confidential, grantTypes: ['password'] },
      { path: 'grantTypes', message: 'password is only for clients that are trusted and not public' },
    ],
    [
      'client_credentials without a user',
      { ...confidential, grantTypes: ['client_credentials'] },
      { path: 'user', message: 'is required: the User that the client acts as with client_credentials' },
    ],
    [
      'client_credentials for a public client',
      { name: 'a', public: true, user: 'robot', grantTypes: ['client_credentials'] },
      {
        path: 'grantTypes',
        message: 'client_credentials is not for a public client, which cannot prove itself',
      },
    ],
    [
      'a token without expiry',
      { ...confidential, accessTokenMaxAgeSeconds: 0 },
      { path: 'accessTokenMaxAgeSeconds', message: 'must be a whole number from 60 to 86400, not 0' },
    ],
    [
      'an unknown algorithm',
      { ...confidential, idTokenSigningAlg: 'HS256' },
      { path: 'idTokenSigningAlg', message: 'must be one of RS256, ES256' },
    ],
  ]
  for (const [what, input, problem] of invalid) {
    it(`rejects ${what}`, () => {
      const { problems } = parse(input)
      expect(problems).to.deep.include(problem)
      expect(JSON.stringify(problems)).to.not.contain('hunter2')
    })
  }
})
