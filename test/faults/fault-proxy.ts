import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCa, issueCertificate } from '../../pkg/certs/issue.ts'

/** The message in error responses of this proxy. */
export const faultMessage = 'made by the fault proxy'

/** A proxy between Kapis and kube-apiserver that reports every event until a fault is set. */
export type FaultProxy = {
  readonly url: string
  /** The same URL with a host name that only preload.ts resolves. */
  readonly namedUrl: string
  readonly caPem: string
  /**
   * Responds with this status to all requests, like an overloaded or failing kube-apiserver; 0
   * proxies them.
   */
  readonly respondWith: (code: number) => void
  readonly delayBy: (ms: number) => void
  /**
   * Aborts all responses in progress, mainly watches.
   *
   * @returns their number
   */
  readonly cut: () => number
  readonly close: () => Promise<void>
}

export async function startFaultProxy(upstream: string, upstreamCa: string): Promise<FaultProxy> {
  const ca = createCa({ commonName: 'fault proxy CA', validityDays: 1 })
  const pair = issueCertificate(ca, {
    ...{
      commonName: 'fault proxy',
      ipAddresses: ['127.0.0.1'],
      dnsNames: ['kube.fault.test'],
      usages: ['server'],
      validityDays: 1,
    },
  })
  const open = new Set<ServerResponse>()
  // Value of the Host header, and the host name that the certificate must have.
  const { host } = new URL(upstream)
  let code = 0
  let delayMs = 0

  async function pass(req: IncomingMessage, res: ServerResponse): Promise<void> {
    open.add(res)
    res.once('close', () => open.delete(res))
    if (delayMs > 0) await sleep(delayMs)
    if (code !== 0) {
      const reason = code === 429 ? 'TooManyRequests' : 'InternalError'
      const status = {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: faultMessage,
        reason,
        code,
      }
      res.writeHead(code, {
        'content-type': 'application/json',
        ...(code === 429 ? { 'retry-after': '1' } : {}),
      })
      res.end(JSON.stringify(status))
      return
    }
    const onward = request(
      new URL(req.url ?? '/', upstream),
      { method: req.method, headers: { ...req.headers, host }, ca: upstreamCa, agent: false },
      response => {
        res.writeHead(response.statusCode ?? 502, response.rawHeaders)
        res.flushHeaders()
        response.on('error', () => res.destroy())
        response.pipe(res)
      },
    )
    onward.on('error', () => res.destroy())
    res.once('close', () => onward.destroy())
    req.pipe(onward)
  }

  const server = createServer({ cert: pair.certPem, key: pair.keyPem }, (req, res) => void pass(req, res))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `https://127.0.0.1:${port}`,
    namedUrl: `https://kube.fault.test:${port}`,
    caPem: ca.certPem,
    respondWith(given) {
      code = given
    },
    delayBy(ms) {
      delayMs = ms
    },
    cut() {
      const { size } = open
      for (const res of open) res.destroy()
      // This also closes connections that are waiting for a request.
      server.closeIdleConnections()
      return size
    },
    async close() {
      server.closeAllConnections()
      await new Promise<void>(resolve => server.close(() => resolve()))
    },
  }
}
