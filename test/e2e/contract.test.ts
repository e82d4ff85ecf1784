import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { connect, type PeerCertificate } from 'node:tls'
import { expect } from 'chai'
import {
  accessToken,
  kubectl,
  kubectlOutput,
  makeNamespace,
  sendToKapis,
  tokenOf,
  uniqueName,
} from './cluster.ts'
import { expectStatus, logIn, platformPath, sendAs, statusBody } from './http.ts'
import { setting } from './run.ts'

const namespace = uniqueName('contract')
const text = 'text/plain; charset=utf-8'
const checks = [
  ...['ping', 'informer-sync', 'authentication-config', 'users', 'apiservice-registration'],
  ...['oauth-server', 'credential', 'logs'],
]

describe('the interface for operators', function () {
  this.timeout(60_000)

  let token = ''
  let plain = ''

  before(async () => {
    await makeNamespace(namespace, ['plain'])
    token = await accessToken()
    plain = await tokenOf(namespace, 'plain')
  })
  after(() => kubectl('delete', 'namespace', namespace, '--wait=false'))

  describe('probes', () => {
    for (const probe of ['healthz', 'livez', 'readyz']) {
      it(`/${probe} returns ok to every caller`, async () => {
        const { code, body, headers } = await sendToKapis(`/${probe}`)
        expect([code, body, headers['content-type']]).to.deep.equal([200, 'ok', text])
        const wrong = await sendToKapis(`/${probe}`, { headers: { authorization: 'Bearer nonsense' } })
        expect([wrong.code, wrong.body]).to.deep.equal([200, 'ok'])
      })
    }

    it('?verbose lists each check', async () => {
      const line = (name: string) => `[+]${name} ok\n`
      const own = { healthz: checks, livez: ['ping'], readyz: [...checks, 'shutdown'] }
      for (const [probe, names] of Object.entries(own)) {
        const { code, body } = await sendToKapis(`/${probe}?verbose`)
        expect([code, body]).to.deep.equal([200, `${names.map(line).join('')}${probe} check passed\n`])
      }
    })

    it('each check has its own path', async () => {
      for (const name of [...checks, 'shutdown']) {
        const { code, body } = await sendToKapis(`/readyz/${name}`)
        expect([code, body], name).to.deep.equal([200, 'ok'])
      }
      expect((await sendToKapis('/readyz/ping?verbose')).body).to.equal(
        '[+]ping ok\nreadyz/ping check passed\n',
      )
      // Unknown checks are those of kube-apiserver, which requires authentication for them.
      expect((await sendToKapis('/readyz/no-such-check')).code).to.equal(403)
      expect((await sendAs(token, '/livez/informer-sync')).code).to.equal(404)
    })

    it('?exclude skips a check, and reports an unknown name', async () => {
      const some = await sendToKapis('/readyz?verbose&exclude=users&exclude=ping')
      expect(some.code).to.equal(200)
      expect(some.body).to.include('[+]users excluded: ok\n').and.include('[+]ping excluded: ok\n')
      expect((await sendToKapis('/livez?verbose&exclude=nonsense')).body).to.equal(
        '[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "nonsense"\nlivez check passed\n',
      )
    })
  })

  describe('version, metrics and paths', () => {
    it('/version has the fields of a Kubernetes version', async () => {
      const { code, body } = await sendAs(token, '/version')
      expect(code).to.equal(200)
      const version = JSON.parse(body)
      expect(version).to.include.keys('major', 'minor', 'gitVersion', 'gitCommit', 'compiler', 'platform')
      expect(version.gitVersion).to.match(/^v\d+\.\d+\.\d+/)
      expect(version.gitVersion.startsWith(`v${version.major}.${version.minor}.`)).to.equal(true)
    })

    it('/metrics requires permission', async () => {
      const user = `system:serviceaccount:${namespace}:plain`
      const message = `forbidden: User "${user}" cannot get path "/metrics"`
      expectStatus(await sendAs(plain, '/metrics'), statusBody(403, 'Forbidden', message, {}))
      expect((await sendToKapis('/metrics')).code).to.be.oneOf([401, 403])
    })

    it('/metrics counts requests by resource, and contains no token', async () => {
      await sendAs(token, platformPath)
      const { code, body, headers } = await sendAs(token, '/metrics')
      expect(code).to.equal(200)
      expect(headers['content-type']).to.match(/^text\/plain; version=0\.0\.4/)
      const line =
        /^apiserver_request_total\{(?=[^}]*verb="LIST")(?=[^}]*resource="nodes")(?=[^}]*code="200")[^}]*\} \d+$/m
      expect(body).to.match(line)
      for (const secret of [token, plain, setting('KAPIS_PASSWORD')]) {
        expect(body.includes(secret)).to.equal(false)
      }
      expect(body).to.not.match(/eyJ[\w-]{10}/)
    })

    it('an invented path creates no new series', async () => {
      const invented = uniqueName('invented')
      await sendAs(token, `/kapis/${invented}.example.com/v1/${invented}`)
      await sendAs(token, `/${invented}`)
      expect((await sendAs(token, '/metrics')).body).to.not.include(invented)
    })

    it('the response has the Audit-Id of the caller, or a new one', async () => {
      const id = randomUUID()
      expect(
        (await sendAs(token, platformPath, { headers: { 'audit-id': id } })).headers['audit-id'],
      ).to.equal(id)
      expect((await sendToKapis(platformPath, { headers: { 'audit-id': id } })).headers['audit-id']).to.equal(
        id,
      )
      const [one, two] = [await sendAs(token, platformPath), await sendAs(token, platformPath)]
      expect(one.headers['audit-id']).to.match(/^[\da-f-]{36}$/)
      expect(two.headers['audit-id']).to.not.equal(one.headers['audit-id'])
      const odd = await sendAs(token, platformPath, { headers: { 'audit-id': '<b>odd</b>' } })
      expect(odd.headers['audit-id']).to.match(/^[\da-f-]{36}$/)
    })

    it('an unknown path answers 404', async () => {
      const { code, body, headers } = await sendAs(token, '/no/such/path')
      expect([code, body, headers['content-type']]).to.deep.equal([404, '404 page not found\n', text])
    })
  })

  it('the serving certificate has the names of the server, and KAPIS_CA verifies it', async () => {
    const inCluster = `kapis.${setting('KAPIS_NAMESPACE')}.svc`
    for (const name of ['localhost', inCluster]) {
      const certificate = await certificateFor(name)
      const names = (certificate.subjectaltname ?? '').split(', ')
      expect(names).to.include.members(['DNS:localhost', `DNS:${inCluster}`, 'IP Address:127.0.0.1'])
    }
    const refused = await certificateFor('someone-else.example.com').catch(error => error)
    expect(refused).to.include({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  })

  it('no secret appears in the logs', async () => {
    const response = await logIn(setting('KAPIS_USER'), setting('KAPIS_PASSWORD'))
    expect(response.code).to.equal(200)
    const { access_token: access, refresh_token: refresh } = JSON.parse(response.body)
    const mistyped = `mistyped-${randomUUID()}`
    expect((await logIn(`nonexistent-${namespace}`, mistyped)).code).to.equal(400)
    await sendAs(access, `${platformPath}?color=red`)
    await sendAs(plain, platformPath)
    await sendAs(`${access}x`, platformPath)
    const secrets = { access, refresh, token, plain, mistyped, password: setting('KAPIS_PASSWORD') }
    const folder = setting('KAPIS_LOGS_DIR')
    const logs = readdirSync(folder).filter(name => name.endsWith('.log'))
    expect(logs).to.include.members(['apiserver.log', 'oauth.log', 'kube-apiserver.log'])
    for (const log of logs) {
      const content = readFileSync(join(folder, log), 'utf8')
      for (const [what, secret] of Object.entries(secrets)) {
        expect(secret, what).to.be.a('string').with.length.above(8)
        // Header and claims of a token must not be logged either, even without the signature.
        const shown = secret.split('.').slice(0, 2).join('.')
        expect(content.includes(shown), `${what} in ${log}`).to.equal(false)
      }
    }
  })

  it('KAPIS_PIDS lists the running processes', () => {
    // Fault tests restart processes, so the PIDs are read from the file rather than the
    // environment.
    const file = readFileSync(join(dirname(setting('KAPIS_CA')), 'env'), 'utf8')
    const [, list = ''] = /^export KAPIS_PIDS='(.*)'$/m.exec(file) ?? []
    const pids = Object.fromEntries(list.split(' ').map(pair => pair.split('=')))
    expect(pids).to.include.keys('etcd', 'kube-apiserver', 'kwok', 'apiserver', 'oauth')
    for (const [name, pid] of Object.entries(pids)) {
      expect(() => process.kill(Number(pid), 0), `${name}=${pid}`).to.not.throw()
    }
  })

  it('the token of a service account cannot be used to read the CA key of Kapis', async () => {
    const user = `--as=system:serviceaccount:${namespace}:plain`
    const { stdout } = await kubectl(
      'auth',
      'can-i',
      'get',
      'secrets',
      '-n',
      setting('KAPIS_NAMESPACE'),
      user,
    )
    expect(stdout).to.equal('no\n')
    expect(await kubectlOutput('get', 'secret', '-n', setting('KAPIS_NAMESPACE'), '-o', 'name')).to.include(
      'secret/kapis-serving\n',
    )
  })
})

/** Returns the certificate for a server name. Rejects if it is not valid for that name. */
function certificateFor(servername: string): Promise<PeerCertificate> {
  const { hostname, port } = new URL(setting('KAPIS_URL'))
  const { promise, resolve, reject } = Promise.withResolvers<PeerCertificate>()
  const ca = readFileSync(setting('KAPIS_CA'))
  const socket = connect({ host: hostname, port: Number(port), servername, ca }, () => {
    resolve(socket.getPeerCertificate())
    socket.destroy()
  })
  socket.on('error', reject)
  return promise
}
