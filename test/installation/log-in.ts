import { expect } from 'chai'
import { eventually } from '../e2e/http.ts'
import type { Cluster } from './control-plane.ts'
import { get } from './get.ts'
import type { Pod } from './pod.ts'

export type Login = { readonly username: string; readonly password: string }
export type Tokens = { readonly token: string; readonly refresh: string }

const secret = 'kapis-initial-admin'

/** Reads the first administrator and the generated password. */
export async function readAdministrator(cluster: Cluster, namespace: string): Promise<Login> {
  const encoded = await cluster.output([
    '-n',
    namespace,
    'get',
    'secret',
    secret,
    '-o',
    'jsonpath={.data.password}',
  ])
  return { username: 'admin', password: Buffer.from(encoded, 'base64').toString('utf8') }
}

/** Logs in a user. Waits for kapis-oauth, since kapis-apiserver becomes ready without it. */
export function logIn(pod: Pod, login: Login): Promise<Tokens> {
  return send(pod, { grant_type: 'password', ...login })
}

/** Refreshes the tokens of a login, at any replica. */
export function refresh(pod: Pod, { refresh }: Tokens): Promise<Tokens> {
  return send(pod, { grant_type: 'refresh_token', refresh_token: refresh })
}

async function send(pod: Pod, grant: Readonly<Record<string, string>>): Promise<Tokens> {
  const form = { ...grant, client_id: 'kapis', client_secret: 'kapis' }
  let body = ''
  await eventually(async () => {
    const response = await get(`${pod.url}/oauth/token`, { method: 'POST', form })
    expect(response.code, response.body).to.equal(200)
    body = response.body
  }, 60_000)
  const { access_token: token, refresh_token: refresh } = JSON.parse(body)
  return { token: String(token), refresh: String(refresh) }
}
