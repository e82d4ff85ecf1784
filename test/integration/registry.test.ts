import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { Status } from '../../pkg/apierrors/status.ts'
import { createCa, issueCertificate } from '../../pkg/certs/issue.ts'
import { createRegistryClient } from '../../pkg/imageregistry/client.ts'
import { createConnect } from '../../pkg/imageregistry/connect.ts'

const login = { username: 'puller', password: 'open sesame' }
const wrong = { ...login, password: 'open barley' }
const imageConfig = {
  architecture: 'amd64',
  os: 'linux',
  config: { Env: ['A=b'] },
  rootfs: { type: 'layers', diff_ids: [] },
}

describe('the image registry client with a real registry', function () {
  this.timeout(180_000)

  let folder = ''
  const caPair = createCa({ commonName: 'registry', validityDays: 2 })
  const program = () => join(folder, 'registry')
  const running: ChildProcess[] = []
  const closes: (() => void)[] = []

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kapis-registry-'))
    const pair = issueCertificate(caPair, {
      commonName: 'localhost',
      dnsNames: ['localhost'],
      usages: ['server'],
      validityDays: 1,
    })
    writeFileSync(join(folder, 'tls.crt'), pair.certPem)
    writeFileSync(join(folder, 'tls.key'), pair.keyPem, { mode: 0o600 })
    await promisify(execFile)('go', ['build', '-o', program(), '.'], {
      cwd: resolve(import.meta.dirname, '../registry'),
    })
  })

  after(() => {
    for (const child of running) child.kill()
    for (const close of closes) close()
    rmSync(folder, { recursive: true, force: true })
  })

  async function start(kind: 'basic' | 'token'): Promise<string> {
    const args = [join(folder, 'tls.crt'), join(folder, 'tls.key'), login.username, login.password, kind]
    const child = spawn(program(), args, { stdio: ['pipe', 'pipe', 'inherit'] })
    running.push(child)
    for await (const line of createInterface({ input: child.stdout })) return `localhost:${line}`
    throw new Error('the registry did not start')
  }

  function clientFor(host: string, trustedHosts: readonly string[] = [host], ca = [caPair.certPem]) {
    const { connect, close } = createConnect({ ca, trustedHosts })
    closes.push(close)
    return createRegistryClient(connect, () => AbortSignal.timeout(10_000))
  }

  /** Pushes a manifest or blob to the registry. */
  async function push(
    host: string,
    kind: 'basic' | 'token',
    method: string,
    path: string,
    body: Buffer,
    type: string,
  ) {
    const agent = new Agent({ ca: caPair.certPem })
    const basic = `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`
    const authorization = kind === 'basic' ? basic : 'Bearer a-token-of-the-token-server'
    const { promise, resolve: done, reject } = Promise.withResolvers<string>()
    const headers = { authorization, 'content-type': type, 'content-length': body.length }
    const req = request(new URL(path, `https://${host}`), { method, agent, headers }, async res => {
      const text = Buffer.concat(await res.toArray()).toString()
      if ((res.statusCode ?? 500) >= 300) reject(new Error(`${method} ${path}: ${res.statusCode} ${text}`))
      else done(String(res.headers.location ?? ''))
    })
    req.on('error', reject)
    req.end(body)
    return promise.finally(() => agent.destroy())
  }

  async function pushImage(host: string, kind: 'basic' | 'token') {
    const digestOf = (body: Buffer) => `sha256:${createHash('sha256').update(body).digest('hex')}`
    const config = Buffer.from(JSON.stringify(imageConfig))
    const begin = await push(
      host,
      kind,
      'POST',
      '/v2/team/app/blobs/uploads/',
      Buffer.alloc(0),
      'application/octet-stream',
    )
    await push(host, kind, 'PUT', `${begin}?digest=${digestOf(config)}`, config, 'application/octet-stream')
    const mediaType = 'application/vnd.oci.image.manifest.v1+json'
    const manifest = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType,
        config: {
          mediaType: 'application/vnd.oci.image.config.v1+json',
          digest: digestOf(config),
          size: config.length,
        },
        layers: [],
      }),
    )
    for (const tag of ['1.0', '1.1'])
      await push(host, kind, 'PUT', `/v2/team/app/manifests/${tag}`, manifest, mediaType)
    const indexType = 'application/vnd.oci.image.index.v1+json'
    const index = {
      schemaVersion: 2,
      mediaType: indexType,
      manifests: [
        {
          mediaType,
          digest: digestOf(manifest),
          size: manifest.length,
          platform: { os: 'linux', architecture: 'amd64' },
        },
      ],
    }
    await push(
      host,
      kind,
      'PUT',
      '/v2/team/app/manifests/many',
      Buffer.from(JSON.stringify(index)),
      indexType,
    )
  }

  const rejection = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    if (!(error instanceof Status)) throw new Error(`no rejection: ${error}`)
    return { code: error.code, message: error.message }
  }

  for (const kind of ['basic', 'token'] as const) {
    it(`reads images and tags, with a login by ${kind}`, async () => {
      const host = await start(kind)
      await pushImage(host, kind)
      const client = clientFor(host)
      await client.verify(host, login)
      for (const reference of ['1.0', 'many'])
        expect(await client.config({ host, repository: 'team/app', reference }, login)).to.deep.equal(
          imageConfig,
        )
      expect([...(await client.tags(host, 'team/app', login))].sort()).to.deep.equal(['1.0', '1.1', 'many'])
      expect(
        await rejection(client.config({ host, repository: 'team/app', reference: '9' }, login)),
      ).to.deep.equal({
        code: 404,
        message: `images "${host}/team/app:9" not found`,
      })
    })

    it(`reports an invalid login by ${kind}`, async () => {
      const host = await start(kind)
      const client = clientFor(host)
      const expected = { code: 401, message: `the registry ${host} rejected the login` }
      expect(await rejection(client.verify(host, wrong))).to.deep.equal(expected)
      expect(await rejection(client.verify(host, undefined))).to.deep.equal(expected)
      expect(await rejection(client.tags(host, 'team/app', wrong))).to.deep.equal(expected)
    })
  }

  it('connects to no address that only this host can reach', async () => {
    const host = await start('basic')
    const port = host.split(':')[1]
    const client = clientFor(host, [])
    for (const target of [host, `127.0.0.1:${port}`, `[::1]:${port}`, '169.254.169.254']) {
      expect(await rejection(client.verify(target, login))).to.deep.equal({
        code: 400,
        message: `the registry ${target} resolves to an address that is not allowed; allow it with registries.trustedHosts`,
      })
    }
  })

  it('trusts no registry with a certificate of an unknown CA', async () => {
    const host = await start('basic')
    const stranger = createCa({ commonName: 'another', validityDays: 2 })
    expect(await rejection(clientFor(host, [host], [stranger.certPem]).verify(host, login))).to.deep.equal({
      code: 503,
      message: `the registry ${host} is not responding`,
    })
  })
})
