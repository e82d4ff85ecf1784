import {
  type ApiResponse,
  content,
  json,
  type Operation,
  ok,
  type Parameter,
  type Paths,
  query,
  requiredQuery,
  segment,
} from '../../openapi/operation.ts'
import { object, oneOfTexts, type Schema, text } from '../../openapi/schema.ts'
import { factorActions } from '../browser/second-factor/factor-actions.ts'
import { pageErrors } from './errors.ts'
import { tokens } from './tokens.ts'

const page: ApiResponse = { description: 'A page.', content: { 'text/html': { schema: text() } } }
const onward: ApiResponse = { description: 'Redirect to the next page, or back to the client.' }

function pageOperation(summary: string, parameters: readonly Parameter[] = []): Operation {
  return {
    summary,
    parameters,
    responses: { 200: page, 302: onward, ...pageErrors(429) },
    security: ['browser', 'none'],
  }
}

/** Describes the submission of a form of a page, which contains the CSRF token of the page. */
function formOperation(summary: string, fields: Readonly<Record<string, Schema>>): Operation {
  return {
    summary,
    body: {
      content: content(
        ['application/x-www-form-urlencoded'],
        object({ csrf: text('Anti-forgery token of the page.'), ...fields }),
      ),
    },
    responses: { 200: page, 303: onward, ...pageErrors(403, 409, 413, 415, 429) },
    security: ['browser', 'none'],
  }
}

function scriptOperation(what: string): Operation {
  return {
    summary: `A script of the pages: ${what}`,
    responses: {
      200: { description: 'The script.', content: { 'text/javascript': { schema: text() } } },
      ...pageErrors(),
    },
    security: ['none'],
  }
}

const authorizeParameters: readonly Parameter[] = [
  requiredQuery('response_type', 'Only code is supported.', oneOfTexts(['code'])),
  requiredQuery('client_id', 'The OAuth client.'),
  query('redirect_uri', 'A redirect URI of the client; required if it has several.'),
  query('scope', 'Scopes, separated by spaces.'),
  query('state', 'Returned unchanged.'),
  query('code_challenge', 'PKCE (RFC 7636); required for public clients.'),
  query('code_challenge_method', 'The only supported method.', oneOfTexts(['S256'])),
  query('nonce', 'Copied into the ID token.', text('', { maxLength: 512 })),
  query('prompt', 'none, login, consent or select_account; several are separated by spaces.'),
  query('max_age', 'Maximum age of the login in seconds.', { type: 'integer', minimum: 0 }),
  query('id_token_hint', 'An ID token of the user who must log in.'),
  query('login_hint', 'User name to prefill.'),
  query('acr_values', 'mfa: the user must use a second factor. Unknown values are ignored.'),
  query('response_mode', 'The only supported mode.', oneOfTexts(['query'], '', { default: 'query' })),
]

const logoutParameters: readonly Parameter[] = [
  query('id_token_hint', 'An ID token of the login to end.'),
  query('client_id', 'The OAuth client.'),
  query('post_logout_redirect_uri', 'A postLogoutRedirectURI of the client.'),
  query('state', 'Returned unchanged.'),
  query('all', 'true: end all logins of the user.', oneOfTexts(['true', 'false'], '', { default: 'false' })),
]
const logout: Operation = {
  summary: 'Ends the login of the access token or of the id_token_hint',
  parameters: logoutParameters,
  responses: {
    200: {
      description: 'Logged out, or a page that asks for confirmation.',
      content: {
        ...json(object({ message: text('', { const: 'success' }) })),
        'text/html': { schema: text() },
      },
    },
    302: onward,
    303: onward,
    ...pageErrors(413, 415),
  },
  security: ['bearer', 'browser', 'none'],
}

/** The paths of the pages, and of the endpoints that lead to them. */
export const pagePaths: Paths = {
  '/oauth/authorize': {
    get: pageOperation('The authorization endpoint (RFC 6749 section 4.1.1)', authorizeParameters),
    post: {
      summary: 'The authorization endpoint, with form parameters',
      body: { content: content(['application/x-www-form-urlencoded'], { type: 'object' }) },
      responses: { 303: onward, ...pageErrors(413, 415) },
      security: ['none'],
    },
  },
  '/oauth/consent': {
    post: formOperation('Submits the consent page', {
      request: text(),
      username: text(),
      decision: oneOfTexts(['allow', 'deny']),
    }),
  },
  '/oauth/factor': {
    post: formOperation('Submits the second factor of a login', {
      ticket: text(),
      code: text('Code of the authenticator app.'),
      recovery_code: text('Recovery code, instead of code.'),
      passkey: text('Instead of code: AuthenticationResponseJSON of Web Authentication.'),
    }),
  },
  '/oauth/factor/totp': {
    post: formOperation('Submits the first code of a new authenticator app', {
      ticket: text(),
      code: text(),
    }),
  },
  '/oauth/factor/passkey': {
    post: formOperation('Submits a new passkey', {
      ticket: text(),
      passkey: text('RegistrationResponseJSON of Web Authentication.'),
      name: text('Name of the passkey, for its user.', { maxLength: 64 }),
    }),
  },
  '/oauth/factors': {
    get: pageOperation('The second factors of the user'),
    post: formOperation('Changes the second factors of the user', {
      action: oneOfTexts(factorActions),
      passkey: text('The id of the passkey to rename or remove.'),
      name: text('The new name of the passkey.', { maxLength: 64 }),
    }),
  },
  '/oauth/login': {
    get: pageOperation('The login page', [
      query('return_to', 'Path of the page to continue with.'),
      query('login_hint', 'User name to prefill.'),
      query('provider', 'Identity provider to check the password with.'),
    ]),
    post: formOperation('Submits the login page', { username: text(), password: text() }),
  },
  '/oauth/password': {
    post: formOperation('Submits the page to change a password set by an administrator', {
      ticket: text(),
      new_password: text(),
      repeat: text(),
    }),
  },
  '/oauth/register': {
    post: formOperation('The first login with an identity provider: creates a user', {
      ticket: text(),
      username: text(),
    }),
  },
  '/oauth/link': {
    post: formOperation('The first login with an identity provider: links an existing user', {
      ticket: text(),
      username: text(),
      password: text(),
    }),
  },
  '/oauth/device': {
    get: pageOperation('The page to log in a device (RFC 8628 section 3.3)', [
      query('user_code', 'The user code that the device shows.'),
    ]),
    post: formOperation('Submits the user code, and then the decision', { user_code: text() }),
  },
  '/oauth/session': {
    get: pageOperation('The page that shows the user of the browser session'),
    post: formOperation('Ends the browser session', {}),
  },
  '/oauth/logged-out': { get: pageOperation('The page after a logout') },
  '/oauth/style.css': {
    get: {
      summary: 'The style sheet of the pages',
      responses: {
        200: { description: 'The style sheet.', content: { 'text/css': { schema: text() } } },
        ...pageErrors(),
      },
      security: ['none'],
    },
  },
  '/oauth/show-password.js': { get: scriptOperation('toggles the visibility of a password field') },
  '/oauth/passkey.js': { get: scriptOperation('asks the browser for a passkey') },
  '/oauth/logout': {
    get: logout,
    post: {
      ...logout,
      body: { required: false, content: content(['application/x-www-form-urlencoded'], { type: 'object' }) },
    },
  },
  '/oauth/logout/confirm': {
    get: pageOperation('The page that confirms a logout that another site requested', [
      requiredQuery('ticket', 'The ticket of the logout request.'),
    ]),
    post: formOperation('Submits the logout confirmation', {
      ticket: text(),
      username: text(),
      decision: oneOfTexts(['logout', 'stay']),
    }),
  },
  '/oauth/callback/{idp}': {
    get: {
      summary: 'Redirect URI for identity providers',
      parameters: [
        segment('idp', 'The identity provider.'),
        query('code', 'Authorization code of the provider.'),
        query('state', 'State of the login.'),
      ],
      responses: {
        ...ok(tokens, 'Tokens, if the login was started with a client_id.'),
        303: onward,
        ...pageErrors(403, 404, 409),
      },
      security: ['none'],
    },
  },
}
