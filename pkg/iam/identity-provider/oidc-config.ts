import { type Fields, text } from '../../config/fields.ts'
import { idTokenAlgorithms } from '../../token/provider-id-token.ts'
import { type AppConfig, appKeys, readAppConfig, url } from './app-config.ts'

export type OidcConfig = AppConfig & {
  readonly issuer: string
  /** Ask for the claims at the userinfo endpoint too, for providers that put little into the ID token. */
  readonly getUserInfo: boolean
  readonly emailKey: string
  readonly preferredUsernameKey: string
  /** The claim with the groups; '' takes none. */
  readonly groupsKey: string
  /** The algorithm of this client's registration; '' for those that the metadata name, or else RS256. */
  readonly idTokenSignedResponseAlg: string
}

const algKey = 'idTokenSignedResponseAlg'
const keys = [...appKeys, 'issuer', 'getUserInfo', 'emailKey', 'preferredUsernameKey', 'groupsKey', algKey]

/**
 * Reads `provider` of an OIDCIdentityProvider. The issuer is required: without it nothing would say whose signature an ID
 * token must carry.
 */
export function readOidcConfig(root: Fields): OidcConfig {
  const provider = root.object('provider', keys)
  const app = readAppConfig(provider, { scopes: ['openid', 'profile', 'email'], endpoint: {} })
  return {
    ...app,
    // Whatever else is asked for, without it there is no ID token.
    scopes: [...new Set(['openid', ...app.scopes])],
    issuer: url(provider, 'issuer', { trust: app.trust }),
    getUserInfo: provider.boolean('getUserInfo', false),
    emailKey: text(provider, 'emailKey', { default: 'email' }),
    preferredUsernameKey: text(provider, 'preferredUsernameKey', { default: '' }),
    groupsKey: text(provider, 'groupsKey', { default: '' }),
    idTokenSignedResponseAlg:
      provider.value(algKey) === undefined ? '' : provider.choice(algKey, idTokenAlgorithms),
  }
}
