import { json, ok, type Paths, segment } from '../../openapi/operation.ts'
import { arrayOf, integer, object, oneOfTexts, text } from '../../openapi/schema.ts'
import { life, maxNameLength, scopes } from '../endpoints/personal-access-token-request.ts'
import { oauthErrors } from './errors.ts'

const described = {
  id: text(),
  name: text(),
  scope: text(),
  createdAt: text('', { format: 'date-time' }),
  expiresAt: text('', { format: 'date-time' }),
}

export const personalAccessTokenPaths: Paths = {
  '/oauth/personal-access-tokens': {
    get: {
      summary: 'Lists the personal access tokens of the caller',
      responses: { ...ok(object({ items: arrayOf(object(described)) })), ...oauthErrors(403) },
      security: ['bearer'],
    },
    post: {
      summary: 'Creates a personal access token',
      description:
        'Requires the access token of a login: a personal access token cannot create others. 403 while the user still has to change a password that an administrator set.',
      body: {
        content: json(
          object(
            {
              name: text('', { minLength: 1, maxLength: maxNameLength }),
              scope: oneOfTexts(scopes, '', { default: 'full' }),
              expiresInSeconds: integer('', { minimum: life.min, maximum: life.max, default: life.default }),
            },
            ['scope', 'expiresInSeconds'],
          ),
        ),
      },
      responses: {
        201: {
          description: 'The token; it is only returned here.',
          content: json(object({ ...described, token: text() })),
        },
        ...oauthErrors(403, 413, 415),
      },
      security: ['bearer'],
    },
  },
  '/oauth/personal-access-tokens/{id}': {
    delete: {
      summary: 'Deletes a personal access token',
      parameters: [segment('id', 'The ID of the personal access token.')],
      responses: { 204: { description: 'Deleted.' }, ...oauthErrors(403, 404) },
      security: ['bearer'],
    },
  },
}
