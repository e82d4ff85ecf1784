import {
  type Answer,
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
import { pageErrors } from './errors.ts'
import { tokens } from './tokens.ts'

const page: Answer = { description: 'A page.', content: { 'text/html': { schema: text() } } }
const onward: Answer = { description: 'On to the next page, or back to the client.' }

function pageOperation(summary: string, parameters: readonly Parameter[] = []): Operation {
  return {
    summary,
    parameters,
    answers: { 200: page, 302: onward, ...pageErrors(429) },
    security: ['browser', 'none'],
  }
}

/** A form of ours: it must come from a page of ours, with the token in it. */
function formOperation(summary: string, fields: Readonly<Record<string, Schema>>): Operation {
  return {
    summary,
    body: {
      content: content(
        ['application/x-www-form-urlencoded'],
        object({ csrf: text('Of the page.'), ...fields }),
      ),
    },
    answers: { 200: page, 303: onward, ...pageErrors(403, 409, 413, 415, 429) },
    security: ['browser', 'none'],
  }
}

const authorizeParameters: readonly Parameter[] = [
  requiredQuery('response_type', 'There is one.', oneOfTexts(['code'])),
  requiredQuery('client_id', 'The OAuth client.'),
  query('redirect_uri', 'One of the client; needed where it has several.'),
  query('scope', 'Separated by spaces.'),
  query('state', 'Comes back as it is.'),
  query('code_challenge', 'PKCE (RFC 7636): a public client must send one.'),
  query('code_challenge_method', 'There is one.', oneOfTexts(['S256'])),
  query('nonce', 'Goes into the ID token.', text('', { maxLength: 512 })),
  query('prompt', 'Of none, login, consent and select_account, separated by spaces.'),
  query('max_age', 'Seconds that the login may be old.', { type: 'integer', minimum: 0 }),
  query('id_token_hint', 'Whose login is meant.'),
  query('login_hint', 'The user name to begin with.'),
  query('response_mode', 'There is one.', oneOfTexts(['query'], '', { default: 'query' })),
]

const logoutParameters: readonly Parameter[] = [
  query('id_token_hint', 'The login that is meant.'),
  query('client_id', 'The OAuth client.'),
  query('post_logout_redirect_uri', 'One of the client.'),
  query('state', 'Comes back as it is.'),
  query('all', 'Every login of the bearer.', oneOfTexts(['true', 'false'], '', { default: 'false' })),
]
const logout: Operation = {
  summary: 'Ends the login of the bearer, or of the id_token_hint',
  parameters: logoutParameters,
  answers: {
    200: {
      description: 'Nobody is logged in any more; or a page that asks whether to log out.',
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

/** What people see, and what leads there. */
export const pagePaths: Paths = {
  '/oauth/authorize': {
    get: pageOperation('The authorization endpoint (RFC 6749 section 4.1.1)', authorizeParameters),
    post: {
      summary: 'The same by a form',
      body: { content: content(['application/x-www-form-urlencoded'], { type: 'object' }) },
      answers: { 303: onward, ...pageErrors(413, 415) },
      security: ['none'],
    },
  },
  '/oauth/consent': {
    post: formOperation('Whether a client may', {
      request: text(),
      username: text(),
      decision: oneOfTexts(['allow', 'deny']),
    }),
  },
  '/oauth/login': {
    get: pageOperation('The login page', [
      query('return_to', 'A page here, to go on to.'),
      query('login_hint', 'The user name to begin with.'),
      query('provider', 'The identity provider that takes the password.'),
    ]),
    post: formOperation('Logs a browser in', { username: text(), password: text() }),
  },
  '/oauth/password': {
    post: formOperation('A new password, for who has to choose one', {
      ticket: text(),
      new_password: text(),
      repeat: text(),
    }),
  },
  '/oauth/register': {
    post: formOperation('The first login from an identity provider: creates a user', {
      ticket: text(),
      username: text(),
    }),
  },
  '/oauth/link': {
    post: formOperation('The first login from an identity provider: the user that there is already', {
      ticket: text(),
      username: text(),
      password: text(),
    }),
  },
  '/oauth/device': {
    get: pageOperation('Where a device is logged in (RFC 8628 section 3.3)', [
      query('user_code', 'The code that the device shows.'),
    ]),
    post: formOperation('The code, and then the decision', { user_code: text() }),
  },
  '/oauth/session': {
    get: pageOperation('Who is logged in with this browser'),
    post: formOperation('Logs the browser out', {}),
  },
  '/oauth/logged-out': { get: pageOperation('Nobody is logged in') },
  '/oauth/style.css': {
    get: {
      summary: 'The style of the pages',
      answers: {
        200: { description: 'The style.', content: { 'text/css': { schema: text() } } },
        ...pageErrors(),
      },
      security: ['none'],
    },
  },
  '/oauth/show-password.js': {
    get: {
      summary: 'The script of the pages that ask for a password: it shows what was typed',
      answers: {
        200: { description: 'The script.', content: { 'text/javascript': { schema: text() } } },
        ...pageErrors(),
      },
      security: ['none'],
    },
  },
  '/oauth/logout': {
    get: logout,
    post: {
      ...logout,
      body: { required: false, content: content(['application/x-www-form-urlencoded'], { type: 'object' }) },
    },
  },
  '/oauth/logout/confirm': {
    get: pageOperation('Asks whether to log out, where a logout came by a form of another site', [
      requiredQuery('ticket', 'The logout that a client has asked for.'),
    ]),
    post: formOperation('Whether to log out', {
      ticket: text(),
      username: text(),
      decision: oneOfTexts(['logout', 'stay']),
    }),
  },
  '/oauth/callback/{idp}': {
    get: {
      summary: 'Where an identity provider sends the browser back to',
      parameters: [
        segment('idp', 'The identity provider.'),
        query('code', 'Of the provider.'),
        query('state', 'Of the login that was begun here.'),
      ],
      answers: {
        ...ok(tokens, 'Tokens, where a client was named at the beginning.'),
        303: onward,
        ...pageErrors(403, 404, 409),
      },
      security: ['none'],
    },
  },
}
