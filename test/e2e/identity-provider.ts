import { upstreamClient } from '../peers/openid-provider.ts'
import { authorityPem } from '../peers/tls-server.ts'
import { kubectlOutput } from './cluster.ts'
import { output, setting } from './run.ts'

type Upstream = { readonly url: string }

const groupDomain = setting('KAPIS_GROUP_DOMAIN')
const namespace = setting('KAPIS_NAMESPACE')

export const users = `users.iam.${groupDomain}`

export function linkOf(provider: string): string {
  return `iam.${groupDomain}/identity-provider.${provider}`
}

/** Returns the claims of an account at an OpenID provider. */
export function personAt(sub: string, more: object = {}) {
  return {
    sub,
    email: `${sub}@example.com`,
    email_verified: true,
    name: 'A Person',
    preferred_username: sub,
    groups: ['blue'],
    ...more,
  }
}

/** Returns the configuration of an OpenID provider, for applyProvider. */
export function openIdDocument(name: string, upstream: Upstream, changes: object = {}, oidc: object = {}) {
  return {
    name,
    type: 'OIDCIdentityProvider',
    ...changes,
    provider: {
      ...upstreamClient,
      issuer: upstream.url,
      rootCAData: authorityPem,
      scopes: ['profile', 'email', 'groups'],
      groupsKey: 'groups',
      ...oidc,
    },
  }
}

/** Creates or changes the Secret of an identity provider, as an administrator would. */
export async function applyProvider(document: { readonly name: string } & object): Promise<void> {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: `idp-${document.name}`,
      namespace,
      labels: { [`config.${groupDomain}/type`]: 'identityprovider' },
    },
    type: `config.${groupDomain}/identityprovider`,
    stringData: { 'configuration.yaml': JSON.stringify(document) },
  }
  await output('kubectl', ['apply', '-f', '-'], { stdin: JSON.stringify(secret) })
}

export async function removeProvider(name: string): Promise<void> {
  await kubectlOutput('-n', namespace, 'delete', 'secret', `idp-${name}`, '--ignore-not-found')
}
