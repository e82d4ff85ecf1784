import { expect } from 'chai'
import { eventually } from '../e2e/http.ts'
import type { Cluster } from './control-plane.ts'
import { get } from './get.ts'
import type { Pod } from './pod.ts'

const secret = 'kapis-initial-admin'

/** The password that the first start made. */
export async function readAdminPassword(cluster: Cluster, namespace: string): Promise<string> {
  const encoded = await cluster.output([
    '-n',
    namespace,
    'get',
    'secret',
    secret,
    '-o',
    'jsonpath={.data.password}',
  ])
  return Buffer.from(encoded, 'base64').toString('utf8')
}

/** Logs the first administrator in. The front is ready without the token listener, which may be starting: it is waited for. */
export async function logIn(
  pod: Pod,
  password: string,
): Promise<{ readonly token: string; readonly refresh: string }> {
  const client = { client_id: 'kapis', client_secret: 'kapis' }
  const form = { grant_type: 'password', username: 'admin', password, ...client }
  let body = ''
  await eventually(async () => {
    const answer = await get(`${pod.url}/oauth/token`, { method: 'POST', form })
    expect(answer.code, answer.body).to.equal(200)
    body = answer.body
  }, 60_000)
  const { access_token: token, refresh_token: refresh } = JSON.parse(body)
  return { token: String(token), refresh: String(refresh) }
}
