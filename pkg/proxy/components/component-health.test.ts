import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import type { Component } from './component.ts'
import { type Availability, checkComponent } from './component-health.ts'
import { createComponentUpstream } from './component-upstream.ts'

const path = '/base/kapis/acme.example.org/v1'

async function check(listener: RequestListener | undefined): Promise<Availability> {
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  if (listener === undefined) server.close()
  const component: Component = {
    name: 'v1.acme.example.org',
    group: 'acme.example.org',
    version: 'v1',
    url: new URL(`http://127.0.0.1:${port}/base/`),
    caPem: undefined,
    isVerified: true,
    serverName: undefined,
    timeoutMs: 1_000,
  }
  const upstream = createComponentUpstream(component, undefined)
  try {
    return await checkComponent(upstream)
  } finally {
    upstream.close()
    server.close()
  }
}

describe('checkComponent', () => {
  for (const code of [200, 401, 403, 404]) {
    it(`reports a server as available that responds with ${code}`, async () => {
      const requests: (string | undefined)[] = []
      const response = await check((req, res) => {
        requests.push(req.method, req.url)
        res.writeHead(code).end('{}')
      })
      expect(response).to.deep.equal({ status: 'True', reason: 'Passed', message: 'the component responds' })
      expect(requests).to.deep.equal(['GET', path])
    })
  }

  it('reports a server as unavailable that responds with its own error', async () => {
    const response = await check((_req, res) => void res.writeHead(503).end())
    const message = `GET ${path} responded with 503`
    expect(response).to.deep.equal({ status: 'False', reason: 'FailedCheck', message })
  })

  it('reports why there is no response', async () => {
    const message = 'the component v1.acme.example.org is not responding (connection_refused)'
    expect(await check(undefined)).to.deep.equal({ status: 'False', reason: 'FailedCheck', message })
  })
})
