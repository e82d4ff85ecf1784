import { content, json, type Operation, ok, type Paths, segment } from '../../openapi/operation.ts'
import {
  anyObject,
  arrayOf,
  boolean,
  integer,
  kubeRef,
  object,
  oneOfTexts,
  type Schema,
  text,
} from '../../openapi/schema.ts'
import { supportedScopes } from '../tokens/scope.ts'
import { grants } from '../tokens/token-endpoint.ts'
import { oauthErrors } from './errors.ts'

const form = (schema: Schema) => ({ content: content(['application/x-www-form-urlencoded'], schema) })
const supported = supportedScopes.join(', ')
const scope = text(
  `Scopes, separated by spaces; supported: ${supported}; for token exchange also read, which is rejected otherwise.`,
)
const client = {
  client_id: text('Required without HTTP Basic.'),
  client_secret: text('Required without HTTP Basic or client_assertion, unless the client is public.'),
  client_assertion: text('A JWT that the client signed, or the token of a service account (RFC 7523).'),
  client_assertion_type: text('', {
    const: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  }),
}

export const tokens: Schema = object(
  {
    access_token: text(),
    token_type: text('', { const: 'Bearer' }),
    refresh_token: text(),
    expires_in: integer('Seconds.'),
    id_token: text('Requires the scope openid.'),
    issued_token_type: text('token-exchange: the type of access_token.'),
    scope: text('Only if it differs from the requested scope.'),
  },
  ['refresh_token', 'id_token', 'issued_token_type', 'scope'],
)

const grantTypes = grants.flatMap(({ grantType, alias }) =>
  alias === undefined ? [grantType] : [grantType, alias],
)
const exchange = {
  subject_token: text('token-exchange (RFC 8693): the token to exchange.'),
  subject_token_type: text('token-exchange: access_token, jwt or id_token, as a URN.'),
  requested_token_type: text('token-exchange: access_token or jwt, as a URN.'),
  audience: text('token-exchange: an audience that the policy allows.'),
}
const request: Schema = object(
  {
    grant_type: oneOfTexts(grantTypes),
    ...client,
    scope,
    username: text('password: user name or e-mail address.'),
    password: text('Grant password: the password.'),
    provider: text('password: identity provider that checks the password; by default Kapis.'),
    code: text('Grant authorization_code: the code.'),
    redirect_uri: text('authorization_code: the value of the authorization request.'),
    code_verifier: text('authorization_code: the verifier of PKCE (RFC 7636).'),
    refresh_token: text('refresh_token: valid once; the response contains the next one.'),
    device_code: text('Grant device_code (RFC 8628): the device code.'),
    ...exchange,
  },
  [
    ...[...Object.keys(client), 'scope', 'username', 'password', 'provider', 'code', 'redirect_uri'],
    ...['code_verifier', 'refresh_token', 'device_code', ...Object.keys(exchange)],
  ],
)

const tokenForm = form(
  object({ token: text(), token_type_hint: text('Ignored.'), ...client }, [
    'token_type_hint',
    ...Object.keys(client),
  ]),
)

const introspection: Schema = object(
  {
    active: boolean(),
    token_type: text(),
    scope: text(),
    client_id: text(),
    username: text(),
    sub: text(),
    iss: text(),
    aud: arrayOf(text()),
    iat: integer(),
    exp: integer(),
    jti: text(),
    auth_time: integer(
      'When the user logged in (RFC 9470 section 6.2), like acr and amr for access tokens of a login.',
    ),
    acr: text('`sfa`: one factor, `mfa`: two.'),
    amr: arrayOf(text()),
  },
  [
    ...['token_type', 'scope', 'client_id', 'username', 'sub', 'iss', 'aud', 'iat', 'exp', 'jti'],
    ...['auth_time', 'acr', 'amr'],
  ],
)

const person = object(
  {
    sub: text(),
    name: text(),
    email: text(),
    email_verified: boolean('Requires the scopes openid email.'),
    locale: text(),
    preferred_username: text(),
    groups: arrayOf(text('Requires the scopes openid profile.')),
  },
  ['name', 'email', 'email_verified', 'locale', 'preferred_username', 'groups'],
)
const userinfo: Operation = {
  summary: 'The user of the access token (OpenID Connect Core section 5.3)',
  responses: { ...ok(person), ...oauthErrors() },
  security: ['bearer'],
}

const review = kubeRef('io.k8s.api.authentication.v1.TokenReview', 'apis/authentication.k8s.io/v1')
const device = object({
  device_code: text(),
  user_code: text('Code for the user to enter.'),
  verification_uri: text(),
  verification_uri_complete: text(),
  expires_in: integer('Seconds.'),
  interval: integer('Seconds between two polls.'),
})

/** The paths of the endpoints for programs. */
export const tokenPaths: Paths = {
  '/oauth/token': {
    post: {
      summary: 'Issues tokens (RFC 6749 section 3.2)',
      body: form(request),
      responses: { ...ok(tokens), ...oauthErrors(403, 413, 415, 429) },
      security: ['client', 'none'],
    },
  },
  '/oauth/revoke': {
    post: {
      summary: 'Revokes a token and its login (RFC 7009)',
      body: tokenForm,
      responses: {
        200: { description: 'The token is invalid or has expired.' },
        ...oauthErrors(413, 415, 429),
      },
      security: ['client', 'none'],
    },
  },
  '/oauth/introspect': {
    post: {
      summary: 'Token introspection (RFC 7662), for confidential clients',
      body: tokenForm,
      responses: { ...ok(introspection), ...oauthErrors(413, 415, 429) },
      security: ['client', 'none'],
    },
  },
  '/oauth/device_authorization': {
    post: {
      summary: 'Starts the login of a device without a browser (RFC 8628 section 3.1)',
      body: form(object({ ...client, scope }, [...Object.keys(client), 'scope'])),
      responses: { ...ok(device), ...oauthErrors(413, 415, 429) },
      security: ['client', 'none'],
    },
  },
  '/oauth/userinfo': {
    get: {
      ...userinfo,
      description:
        'HTTP Basic with user name (or e-mail address) and password is accepted too, with the same checks and locks as the password grant; it starts no login.',
      responses: { ...userinfo.responses, ...oauthErrors(429) },
      security: ['bearer', 'password'],
    },
    post: {
      ...userinfo,
      body: {
        required: false,
        ...form(
          object({ access_token: text('Required without the header Authorization.') }, ['access_token']),
        ),
      },
      responses: { ...userinfo.responses, ...oauthErrors(413, 415) },
    },
  },
  '/oauth/authenticate': {
    post: {
      summary: 'Token authentication webhook for kube-apiserver (TokenReview)',
      body: { content: json(review) },
      responses: {
        ...ok(
          object({
            apiVersion: text(),
            kind: text('', { const: 'TokenReview' }),
            status: anyObject('A TokenReviewStatus.'),
          }),
        ),
        ...Object.fromEntries(
          Object.entries(oauthErrors(413, 415)).map(([code, { description }]) => [
            code,
            {
              description,
              content: json({
                anyOf: [kubeRef('io.k8s.apimachinery.pkg.apis.meta.v1.Status'), anyObject('')],
              }),
            },
          ]),
        ),
      },
      security: ['none'],
    },
  },
  '/oauth/login/{idp}': {
    get: {
      summary: 'Redirects the browser to an identity provider',
      parameters: [
        segment('idp', 'The identity provider.'),
        ...['return_to', 'client_id', 'scope', 'redirect_uri', 'state'].map(name => ({
          name,
          in: 'query' as const,
          description:
            name === 'return_to'
              ? 'Path of the page to continue with after the login.'
              : 'Parameter of the client that requests the tokens.',
          schema: text(),
        })),
      ],
      responses: { 303: { description: 'Redirect to the provider.' }, ...oauthErrors(404) },
      security: ['none'],
    },
    post: {
      summary: 'The password grant, checked by an identity provider',
      parameters: [segment('idp', 'The identity provider.')],
      body: form(
        object(
          {
            username: text(),
            password: text(),
            scope,
            provider: text('The name of the provider, as in the path.'),
            ...client,
          },
          ['scope', 'provider', ...Object.keys(client)],
        ),
      ),
      responses: { ...ok(tokens), ...oauthErrors(403, 404, 413, 415, 429) },
      security: ['client', 'none'],
    },
  },
}
