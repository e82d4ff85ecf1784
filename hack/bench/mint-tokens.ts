import { createKubeClient } from '../../pkg/kubeclient/client.ts'
import { loadEndpoint } from '../../pkg/kubeclient/rest-config.ts'
import type { BenchEnv } from './env.ts'
import { postForm } from './post-form.ts'

const client = { name: 'bench', secret: 'bench' }
const atOnce = 8
const knownWithinMs = 10_000

/** As many access tokens of the administrator as said, each of a session of its own: of a client that acts as him. */
export async function mintTokens(env: BenchEnv, count: number): Promise<readonly string[]> {
  const { groupDomain, kubeconfig, user, kapisUrl, kapisCa } = env
  const document = { ...client, grantTypes: ['client_credentials'], user }
  const kube = createKubeClient(loadEndpoint(kubeconfig))
  try {
    await kube.call({
      method: 'POST',
      path: `/api/v1/namespaces/${env.namespace}/secrets`,
      body: {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'bench-client', labels: { [`config.${groupDomain}/type`]: 'oauthclient' } },
        type: `config.${groupDomain}/oauthclient`,
        stringData: { 'configuration.yaml': JSON.stringify(document) },
      },
    })
  } finally {
    kube.close()
  }
  const form = { grant_type: 'client_credentials', client_id: client.name, client_secret: client.secret }
  const ask = () => postForm(`${kapisUrl}/oauth/token`, kapisCa, form)
  const deadline = Date.now() + knownWithinMs
  while ((await ask()).code !== 200) {
    if (Date.now() > deadline) throw new Error('kapis-oauth does not know the client')
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  const tokens: string[] = []
  const work = async () => {
    while (tokens.length < count) {
      const { code, body } = await ask()
      if (code !== 200) throw new Error(`no token: ${code} ${body}`)
      tokens.push(JSON.parse(body).access_token)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return tokens.slice(0, count)
}
