import { ok, type Paths } from '../../openapi/operation.ts'
import { anyObject, arrayOf, boolean, integer, object, oneOfTexts, text } from '../../openapi/schema.ts'
import { platformConfigPath } from '../endpoints/platform-config.ts'
import { oauthErrors } from './errors.ts'

const metadata = {
  get: {
    summary: 'Metadata of the issuer (OpenID Connect Discovery 1.0, RFC 8414)',
    responses: {
      ...ok({
        ...object({
          issuer: text(),
          authorization_endpoint: text(),
          token_endpoint: text(),
          jwks_uri: text(),
        }),
        additionalProperties: true,
      }),
      ...oauthErrors(),
    },
    security: ['none'],
  },
} as const

const provider = object({
  name: text(),
  title: text(),
  type: text(),
  mappingMethod: text(),
  disableLoginConfirmation: boolean(),
  login: object({ kind: oneOfTexts(['redirect', 'password']), path: text() }),
  provider: anyObject('Nothing.'),
})
const platformConfig = object({
  issuer: text(),
  identityProviders: arrayOf(provider),
  clients: arrayOf(
    object({ name: text(), redirectURIs: arrayOf(text()), grantMethod: text() }, [
      'redirectURIs',
      'grantMethod',
    ]),
  ),
  accessTokenMaxAge: integer('Nanoseconds.'),
  accessTokenInactivityTimeout: integer('Nanoseconds.'),
})

/** Describes the public documents of kapis-oauth. */
export function documentPaths(groupDomain: string): Paths {
  return {
    '/oauth/.well-known/openid-configuration': metadata,
    '/.well-known/openid-configuration/oauth': metadata,
    '/.well-known/oauth-authorization-server': metadata,
    '/.well-known/oauth-authorization-server/oauth': metadata,
    '/oauth/keys': {
      get: {
        summary: 'Public signing keys as a JWK Set (RFC 7517)',
        responses: { ...ok(object({ keys: arrayOf(anyObject('A JWK.')) })), ...oauthErrors() },
        security: ['none'],
      },
    },
    [platformConfigPath(groupDomain)]: {
      get: {
        summary: 'Settings for login pages of the platform',
        responses: { ...ok(platformConfig), ...oauthErrors() },
        security: ['none'],
      },
    },
  }
}
