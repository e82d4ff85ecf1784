import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { withClocks } from '../../scheduling/clock-fixtures.ts'
import { loadRestConfig, withoutCredential } from './rest-config.ts'

describe('loadRestConfig', () => {
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

  it('reads server and credential, and reuses them for the next call', async () => {
    const endpoint = loadRestConfig(kubeconfig('https://10.0.0.1:6443'))
    const access = await endpoint.access()
    expect(endpoint.url.origin).to.equal('https://10.0.0.1:6443')
    expect(access).to.deep.equal({
      tls: { rejectUnauthorized: false },
      headers: ['Authorization', 'Bearer secret-token'],
    })
    expect(await endpoint.access()).to.equal(access)
  })

  it('has no credential if that is requested', async () => {
    const certificate = { 'client-certificate-data': btoa('cert'), 'client-key-data': btoa('key') }
    for (const user of [{ token: 'secret-token' }, { username: 'a', password: 'b' }, certificate]) {
      const endpoint = loadRestConfig(kubeconfig('https://10.0.0.1:6443', 'c', user))
      const { url, access } = withoutCredential(endpoint)
      const found = await access()
      expect([url.origin, found]).to.deep.equal([
        'https://10.0.0.1:6443',
        { tls: { rejectUnauthorized: false }, headers: [] },
      ])
      // Must be the same object, since each object results in another connection pool.
      expect((await access()).tls).to.equal(found.tls)
    }
  })

  it('reads a rejected credential again, at most once a second', async () => {
    const tokenFile = join(folder, 'token')
    writeFileSync(tokenFile, 'old-token')
    const endpoint = loadRestConfig(kubeconfig('https://10.0.0.1:6443', 'c', { tokenFile }))
    const old = await endpoint.access()
    writeFileSync(tokenFile, 'next-token')
    endpoint.credentialRejected()
    expect(await endpoint.access()).to.equal(old)
    await withClocks({ wallMs: -600_000, monotonicMs: 1_001 }, async () => {
      const next = await endpoint.access()
      expect(next.headers).to.deep.equal(['Authorization', 'Bearer next-token'])
      // Connections are kept, since no TLS setting has changed.
      expect(next.tls).to.equal(old.tls)
    })
  })

  it('rejects a file without a cluster', () => {
    expect(() => loadRestConfig(kubeconfig('https://x', 'missing'))).to.throw(/has no current cluster/)
  })
})
