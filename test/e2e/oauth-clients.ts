import { readFileSync } from 'node:fs'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import * as oidc from 'openid-client'
import { kubectlOutput, sendToKapis } from './cluster.ts'
import { form } from './oauth.ts'
import { output, setting } from './run.ts'

const domain = setting('KAPIS_GROUP_DOMAIN')
const namespace = setting('KAPIS_NAMESPACE')

/** Applies the Secret of an OAuth client and waits until kapis-oauth has loaded it. */
export async function createClient(document: {
  readonly name: string
  /** The client secret; '' for a public client. */
  readonly secret?: string
  readonly [member: string]: unknown
}): Promise<void> {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: document.name,
      namespace,
      labels: { [`config.${domain}/type`]: 'oauthclient' },
    },
    type: `config.${domain}/oauthclient`,
    stringData: { 'configuration.yaml': JSON.stringify(document) },
  }
  await output('kubectl', ['apply', '-f', '-'], { stdin: JSON.stringify(secret) })
  await waitForClient(document.name, document.secret ?? '', true)
}

export async function removeClient(name: string): Promise<void> {
  await kubectlOutput('-n', namespace, 'delete', 'secret', name, '--ignore-not-found')
}

/** Polls until kapis-oauth accepts, or no longer accepts, the secret of the client. */
export async function waitForClient(name: string, secret: string, isKnown: boolean): Promise<void> {
  const deadline = Date.now() + 5_000
  for (;;) {
    const { code } = await form('/oauth/token', { client_id: name, client_secret: secret })
    // With 400 the client is authenticated, but the request contains no grant.
    if ((code === 400) === isKnown) return
    if (Date.now() > deadline) throw new Error(`kapis-oauth responded to the client ${name} with ${code}`)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

/** Returns a configuration of openid-client for Kapis, from the discovery document. */
export async function discover(name: string, secret: string): Promise<oidc.Configuration> {
  // The fetch of openid-client has no option for a CA.
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(setting('KAPIS_CA'), 'utf8')])
  return oidc.discovery(new URL(await issuerUrl()), name, secret)
}

export async function issuerUrl(): Promise<string> {
  const { issuer } = JSON.parse((await sendToKapis('/oauth/.well-known/openid-configuration')).body)
  return issuer
}
