import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { createCa, issueCertificate } from '../certs/issue.ts'
import { createKubeClient, type KubeClient } from './client.ts'
import type { RestConfig } from './config/rest-config.ts'

const ca = createCa({ commonName: 'kube-apiserver', validityDays: 2 })
const serving = issueCertificate(ca, {
  commonName: 'localhost',
  ipAddresses: ['127.0.0.1'],
  usages: ['server'],
  validityDays: 1,
})

export type FakeKubeApiserver = {
  readonly server: Server
  readonly client: KubeClient
  readonly endpoint: RestConfig
  /** Method and URL of each received request. */
  readonly requests: readonly string[]
  readonly close: () => Promise<void>
}

/** Starts a fake kube-apiserver for failures on demand. @param basePath path of its URL */
export async function startFakeKubeApiserver(
  listener: (req: IncomingMessage, res: ServerResponse) => unknown,
  basePath = '/',
): Promise<FakeKubeApiserver> {
  const requests: string[] = []
  const server = createServer({ cert: serving.certPem, key: serving.keyPem }, (req, res) => {
    requests.push(`${req.method} ${req.url}`)
    void listener(req, res)
  })
  const listening = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', listening.resolve)
  await listening.promise
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const access = { tls: { ca: ca.certPem }, headers: ['authorization', 'Bearer own'] }
  const endpoint: RestConfig = {
    url: new URL(basePath, `https://127.0.0.1:${port}`),
    access: () => access,
    credentialRejected: () => undefined,
  }
  const client = createKubeClient(endpoint)
  return {
    server,
    client,
    endpoint,
    requests,
    close: async () => {
      client.close()
      const closed = Promise.withResolvers<void>()
      server.close(() => closed.resolve())
      server.closeAllConnections()
      await closed.promise
    },
  }
}

export function respondJson(res: ServerResponse, code: number, value: unknown): void {
  res.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** Resolves when `condition` returns true; fails the test after twenty seconds. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('it did not happen')
    const { promise, resolve } = Promise.withResolvers<void>()
    setTimeout(resolve, 2)
    await promise
  }
}
