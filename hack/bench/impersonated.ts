import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { reviewToken } from '../../pkg/authn/token-review.ts'
import { createKubeClient } from '../../pkg/kubeclient/client.ts'
import { loadEndpoint } from '../../pkg/kubeclient/rest-config.ts'
import { toImpersonation } from '../../pkg/proxy/identity-headers.ts'
import type { BenchEnv } from './env.ts'

/** What goes with a request to kube-apiserver; `headers` are lines. */
export type Signed = { readonly token: string; readonly headers: readonly string[] }

/**
 * With what Kapis asks kube-apiserver in the name of the bearer of `env.kapisToken`: its own credential and the headers that
 * impersonate. What kube-apiserver gives to who asks it so, a proxy that impersonates cannot exceed.
 */
export async function signAsProxy(env: BenchEnv): Promise<Signed> {
  const kapis = JSON.parse(readFileSync(join(env.runDir, 'kapis.kubeconfig'), 'utf8'))
  const admin = createKubeClient(loadEndpoint(env.kubeconfig))
  try {
    const identity = await reviewToken(admin, env.kapisToken)
    if (identity === 'refused') throw new Error('kube-apiserver rejected the token of Kapis')
    const lines = toImpersonation(identity)
    // The load client takes no name with a dot or a percent sign, as most extra fields have: the figure is a little too good.
    const headers = lines.flatMap((name, i) =>
      i % 2 === 0 && /^[\w-]+$/.test(name) ? [`${name}: ${lines[i + 1]}`] : [],
    )
    return { token: kapis.users[0].user.token, headers }
  } finally {
    admin.close()
  }
}
