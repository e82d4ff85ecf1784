import { expect } from 'chai'
import type { Provider } from '../iam/identityprovider/provider-store.ts'
import { listLoginButtons } from './login-buttons.ts'

function provider(name: string, kind: 'password' | 'redirect', hidden = false): Provider {
  const config = {
    name,
    type: 'GitHubIdentityProvider',
    displayName: `Log in with ${name}`,
    hidden,
    disabled: false,
    mappingMethod: 'auto',
    disableLoginConfirmation: true,
    usernamePrefix: '',
    groupsPrefix: '',
    groupsMaxAgeSeconds: 86_400,
    provider: {
      clientId: 'c',
      clientSecret: 's',
      redirectUrl: '',
      scopes: [],
      endpoint: { authURL: '', tokenURL: '', userInfoURL: '', jwksURL: '', endSessionURL: '' },
      trust: { ca: undefined, isVerified: true },
      timeoutMs: 1000,
      memberOf: [],
    },
  } as const
  const never = () => Promise.reject(new Error('not asked'))
  return {
    config,
    client:
      kind === 'password'
        ? { kind, authenticate: never }
        : { kind, redirectUrl: '', begin: never, finish: never },
  }
}

describe('listLoginButtons', () => {
  it('returns a button for each visible provider', () => {
    const providers = [
      provider('corp', 'password'),
      provider('dark', 'redirect', true),
      provider('git hub', 'redirect'),
    ]
    expect(listLoginButtons(providers)).to.deep.equal([
      { name: 'corp', displayName: 'Log in with corp', kind: 'password', path: '/oauth/login/corp' },
      {
        name: 'git hub',
        displayName: 'Log in with git hub',
        kind: 'redirect',
        path: '/oauth/login/git%20hub',
      },
    ])
  })
})
