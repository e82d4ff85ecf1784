import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import {
  accessToken,
  type HttpResponse,
  kubectl,
  kubectlOutput,
  makeNamespace,
  tokenOf,
  uniqueName,
} from './cluster.ts'
import { eventually, groupDomain, sendAs } from './http.ts'
import { output, scratch, setting } from './run.ts'

export const tenant = `/kapis/tenant.${groupDomain}/v1alpha2/logs`
export const logging = `/kapis/logging.${groupDomain}/v1alpha2`
export const foundWithinMs = 30_000

export type LogScene = ReturnType<typeof createLogScene>

/**
 * A namespace with twenty log lines and users with different permissions. `setUp` creates it and
 * `tearDown` deletes it.
 *
 * @param base returns the URL of kapis-apiserver with the store
 */
export function createLogScene(base: () => string) {
  const mine = uniqueName('logs')
  const others = `${mine}-others`
  const token = { admin: '', reader: '', unprivileged: '', shipper: '' }
  let created = 0

  async function setUp(): Promise<void> {
    await makeNamespace(mine, ['reader', 'unprivileged', 'shipper'])
    await makeNamespace(others, [])
    created = Math.floor(Date.now() / 1000)
    await kubectlOutput(
      '-n',
      mine,
      'create',
      'rolebinding',
      'reader',
      '--clusterrole=view',
      `--serviceaccount=${mine}:reader`,
    )
    await kubectlOutput(
      'create',
      'clusterrolebinding',
      mine,
      '--clusterrole=kapis:log-shipper',
      `--serviceaccount=${mine}:shipper`,
    )
    token.admin = await accessToken()
    for (const name of ['reader', 'unprivileged', 'shipper'] as const) token[name] = await tokenOf(mine, name)
    await send(lines(20))
    await eventually(
      async () => expect((await query(`namespaces=${mine}&q=ordinary`)).total).to.equal(20),
      foundWithinMs,
    )
  }

  async function tearDown(): Promise<void> {
    await kubectl('delete', 'clusterrolebinding', mine)
    await kubectl('delete', 'namespace', mine, others, '--wait=false')
  }

  /** Formats a time with nanoseconds. */
  function rfc3339(at = Date.now(), nanos = '000001'): string {
    return new Date(at).toISOString().replace('Z', `${nanos}Z`)
  }

  function document(log: string, given: { time?: string; namespace?: string; pod?: string } = {}): object {
    const { time = rfc3339(), namespace = mine, pod = 'web-0' } = given
    const names = {
      namespace_name: namespace,
      pod_name: pod,
      container_name: 'web',
      docker_id: `${pod}-web`,
    }
    return { time, log, kubernetes: { ...names, host: 'worker-1', labels: { app: 'web' } } }
  }

  function lines(count: number): string {
    const at = Date.now()
    return Array.from({ length: count }, (_, i) => {
      const log = `ordinary line ${i} of ${count}\n`
      return JSON.stringify(document(log, { time: rfc3339(at + i), pod: `web-${i % 2}` }))
    }).join('\n')
  }

  function get(who: keyof typeof token, path: string): Promise<HttpResponse> {
    return sendAs(token[who], `${base()}${path}`)
  }

  async function query(parameters: string, who: keyof typeof token = 'admin') {
    const response = await get(who, `${tenant}?${parameters}`)
    expect(response.code, response.body).to.equal(200)
    return JSON.parse(response.body).query
  }

  /** Sends data by `curl --data-binary`, like clients without a library. */
  async function curl(
    path: string,
    body: Buffer | string,
    headers: readonly string[] = [],
    who: keyof typeof token = 'shipper',
  ) {
    const file = join(scratch, uniqueName('body'))
    writeFileSync(file, body)
    const args = ['-sS', '--cacert', setting('KAPIS_CA'), '-w', '\n%{http_code}', '--data-binary', `@${file}`]
    const all = [`authorization: Bearer ${token[who]}`, ...headers].flatMap(header => ['-H', header])
    const printed = await output('curl', [...args, ...all, `${kapisUrl()}${logging}/ingest${path}`])
    const [code = '', ...rest] = printed.split('\n').toReversed()
    return { code: Number(code), body: rest.toReversed().join('\n') }
  }

  const kapisUrl = () => base() || setting('KAPIS_URL')

  async function send(text: string): Promise<void> {
    const { code, body } = await curl('/jsonlines', text)
    expect(code, body).to.equal(200)
  }

  return {
    ...{ mine, others, token, setUp, tearDown, kapisUrl, rfc3339, document, lines, get, query, curl, send },
    created: () => created,
  }
}
