import { pbkdf2Sync, randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { type NodeSettings, securedCommand } from '../../hack/opensearch/command.ts'
import { createCa, issueCertificate } from '../../pkg/certs/issue.ts'
import { isRecord } from '../../pkg/kubeclient/object/object.ts'
import { startNode } from '../integration/open-search.ts'

export type SecuredElasticsearch = {
  readonly url: string
  /** PEM of the CA that signed its certificate. */
  readonly ca: string
  /** Name of a superuser. */
  readonly username: string
  readonly password: string
  /** Sends a request as the superuser. @throws Error for any response other than 2xx */
  readonly send: (method: string, path: string, body?: object) => Promise<Readonly<Record<string, unknown>>>
  readonly stop: () => Promise<void>
}

const username = 'operator'

/** Starts a real Elasticsearch with security enabled: TLS with its own CA, users, and API keys. */
export async function startSecuredElasticsearch(): Promise<SecuredElasticsearch> {
  const ca = createCa({ commonName: 'elasticsearch', validityDays: 2 })
  const serving = issueCertificate(ca, {
    commonName: 'elasticsearch',
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
    validityDays: 1,
  })
  const password = randomBytes(16).toString('base64url')

  function prepare({ folder }: NodeSettings): void {
    const write = (name: string, text: string) => writeFileSync(join(folder, 'config', name), text)
    mkdirSync(join(folder, 'config'))
    write('http.crt', serving.certPem)
    write('http.key', serving.keyPem)
    write('users', `${username}:${toHash(password)}\n`)
    write('users_roles', `superuser:${username}\n`)
  }
  const call = (url: string, method: string, path: string, body?: object) =>
    send({ url, ca: ca.certPem, auth: `${username}:${password}` }, method, path, body)

  const node = await startNode({
    async toCommand(where) {
      prepare(where)
      return securedCommand(where, () => undefined)
    },
    toUrl: port => `https://127.0.0.1:${port}`,
    isReady: async url => isRecord(await call(url, 'GET', '/_cluster/health')),
  })
  const { url, stop } = node
  const ask: SecuredElasticsearch['send'] = (method, path, body) => call(url, method, path, body)
  return { url, ca: ca.certPem, username, password, send: ask, stop }
}

/** Hashes a password in the format of Elasticsearch's file realm. */
function toHash(password: string): string {
  const [salt, rounds] = [randomBytes(32), 10_000]
  const hash = pbkdf2Sync(password, salt, rounds, 32, 'sha512')
  return `{PBKDF2}${rounds}$${salt.toString('base64')}$${hash.toString('base64')}`
}

async function send(
  { url, ca, auth }: { readonly url: string; readonly ca: string; readonly auth: string },
  method: string,
  path: string,
  body?: object,
): Promise<Readonly<Record<string, unknown>>> {
  const { promise, resolve, reject } = Promise.withResolvers<Readonly<Record<string, unknown>>>()
  const text = body === undefined ? '' : JSON.stringify(body)
  // Node.js sends a DELETE with a body without Content-Length by default.
  const headers =
    body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
  const sent = request(`${url}${path}`, { method, ca, auth, headers, agent: false }, response => {
    const read = async () => {
      const said = await json(response)
      const isGood = (response.statusCode ?? 0) < 300 && isRecord(said)
      if (!isGood)
        throw new Error(`${method} ${path} responded with ${response.statusCode}: ${JSON.stringify(said)}`)
      return said
    }
    read().then(resolve, reject)
  })
  sent.on('error', reject)
  sent.end(text)
  return promise
}
