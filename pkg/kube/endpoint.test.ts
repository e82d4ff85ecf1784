import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { withClocks } from '../status/clock-fixtures.ts'
import { loadEndpoint } from './endpoint.ts'

describe('loadEndpoint', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kapis-endpoint-'))
  after(() => rmSync(folder, { recursive: true }))

  function kubeconfig(server: string, context = 'c', user: object = { token: 'secret-token' }): string {
    const path = join(folder, `${Math.random()}.yaml`)
    writeFileSync(
      path,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': context,
        clusters: [{ name: 'k', cluster: { server, 'insecure-skip-tls-verify': true } }],
        users: [{ name: 'u', user }],
        contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
      }),
    )
    return path
  }

  it('reads server and credential, and keeps them for the next call', async () => {
    const endpoint = loadEndpoint(kubeconfig('https://10.0.0.1:6443'))
    const options = await endpoint.options()
    expect(options).to.include({ host: '10.0.0.1', port: 6443 })
    expect(options.headers).to.have.property('Authorization', 'Bearer secret-token')
    expect(await endpoint.options()).to.equal(options)
    endpoint.close()
  })

  it('reads a credential that was refused again, once a second at most', async () => {
    const tokenFile = join(folder, 'token')
    writeFileSync(tokenFile, 'old-token')
    const endpoint = loadEndpoint(kubeconfig('https://10.0.0.1:6443', 'c', { tokenFile }))
    const old = await endpoint.options()
    writeFileSync(tokenFile, 'next-token')
    endpoint.refused()
    expect(await endpoint.options()).to.equal(old)
    await withClocks({ wallMs: -600_000, monotonicMs: 1_001 }, async () => {
      expect((await endpoint.options()).headers).to.have.property('Authorization', 'Bearer next-token')
    })
    endpoint.close()
  })

  it('takes 443 for a server without a port', async () => {
    const endpoint = loadEndpoint(kubeconfig('https://k8s.example.org/base'))
    expect(await endpoint.options()).to.include({ host: 'k8s.example.org', port: 443 })
    expect(endpoint.url.pathname).to.equal('/base')
    endpoint.close()
  })

  it('refuses a file that names no cluster', () => {
    expect(() => loadEndpoint(kubeconfig('https://x', 'missing'))).to.throw(/has no current cluster/)
  })
})
