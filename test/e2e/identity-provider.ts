import { kubectlOutput } from './cluster.ts'
import { output, setting } from './run.ts'

const groupDomain = setting('KAPIS_GROUP_DOMAIN')
const namespace = setting('KAPIS_NAMESPACE')

export const users = `users.iam.${groupDomain}`

export function linkOf(provider: string): string {
  return `iam.${groupDomain}/identity-provider.${provider}`
}

/** Makes or changes an identity provider, as an administrator would. */
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
