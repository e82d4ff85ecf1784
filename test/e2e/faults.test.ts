import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { expect } from 'chai'
import {
  accessToken,
  type HttpResponse,
  kubectl,
  kubectlOutput,
  makeNamespace,
  nodes,
  sendToKapis,
  tokenOf,
  uniqueName,
} from './cluster.ts'
import { component } from './control-plane-process.ts'
import { eventually, expectStatus, listAs, logIn, platformPath, sendAs, statusBody } from './http.ts'
import { follow, setting } from './run.ts'

const namespace = uniqueName('faults')
const healMs = 10_000
// kube-apiserver checks a failing APIService with exponential backoff. The longer Kapis takes to start,
// the later kube-apiserver serves its resources again.
const restartMs = 60_000

// These tests stop and start the running processes. Each test leaves all of them running, even if
// it fails.
describe('during a failure', function () {
  this.timeout(120_000)

  let token = ''
  let reader = ''

  before(async () => {
    await makeNamespace(namespace, ['reader'])
    await kubectlOutput('create', 'clusterrole', namespace, '--verb=get,list,watch', `--resource=${nodes}`)
    const subject = `--serviceaccount=${namespace}:reader`
    await kubectlOutput('create', 'clusterrolebinding', namespace, `--clusterrole=${namespace}`, subject)
    token = await accessToken()
    reader = await tokenOf(namespace, 'reader')
  })

  afterEach(async () => {
    for (const name of ['etcd', 'kube-apiserver', 'oauth', 'apiserver']) await component('start', name)
    await eventually(readsEverywhere, 30_000)
  })

  after(async () => {
    await kubectl('delete', 'clusterrolebinding,clusterrole', namespace)
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  it('of kapis-oauth, no new logins are possible, and everything else continues', async () => {
    await component('stop', 'oauth')
    const refused = await logIn(setting('KAPIS_USER'), setting('KAPIS_PASSWORD'))
    expect(refused.code).to.equal(503)
    expect(refused.headers).to.include({ 'content-type': 'application/json', 'cache-control': 'no-store' })
    expect(Number(refused.headers['retry-after'])).to.be.above(0)
    expect(JSON.parse(refused.body)).to.deep.equal({
      error: 'temporarily_unavailable',
      error_description: 'kapis-oauth is not responding',
    })
    const page = await sendToKapis('/oauth/login', { headers: { accept: 'text/html,*/*;q=0.8' } })
    expect([page.code, page.headers['content-type']]).to.deep.equal([503, 'text/html; charset=utf-8'])
    expect(Number(page.headers['retry-after'])).to.be.above(0)
    expect(page.body).to.include('<h1>Login is not available at the moment</h1>')
    for (const who of [token, reader]) expect((await sendAs(who, platformPath)).code).to.equal(200)
    expect((await sendToKapis('/readyz')).code).to.equal(200)
    const details = { retryAfterSeconds: 1 }
    const silent = statusBody(503, 'ServiceUnavailable', 'kapis-oauth is not responding', details)
    for (const path of ['/metrics/oauth', '/debug/profile/oauth/cpu?seconds=1'])
      expectStatus(await sendAs(token, path), silent)
    expect((await sendAs(token, '/metrics')).code).to.equal(200)

    await component('start', 'oauth')
    const again = await logIn(setting('KAPIS_USER'), setting('KAPIS_PASSWORD'))
    expect(again.code, again.body).to.equal(200)
    const { access_token: fresh } = JSON.parse(again.body)
    for (const who of [token, fresh]) expect((await sendAs(who, platformPath)).code).to.equal(200)
  })

  it('of Kapis, a restart lets kubectl continue to read, and tokens stay valid', async () => {
    await component('restart', 'apiserver', '--no-wait')
    note('kubectl reads', await eventually(readsEverywhere, restartMs))
    for (const who of [token, reader]) expect((await sendAs(who, platformPath)).code).to.equal(200)
    expect((await logIn(setting('KAPIS_USER'), setting('KAPIS_PASSWORD'))).code).to.equal(200)
    await watchSeesChanges()
  })

  it('of kube-apiserver, lists continue or answer 503, and recover automatically', async () => {
    for (const who of [token, reader]) expect((await sendAs(who, platformPath)).code).to.equal(200)
    await component('stop', 'kube-apiserver')
    const stoppedAt = performance.now()
    for (const who of [token, reader]) {
      await eventually(
        async () => {
          const response = await answered(who)
          expect((await sendToKapis('/livez')).code).to.equal(200)
          expect(response.code).to.equal(503)
        },
        20_000 - (performance.now() - stoppedAt),
        250,
      )
    }
    note('503', (performance.now() - stoppedAt) / 1000)
    const unavailable = await answered(token)
    expect(JSON.parse(unavailable.body)).to.include({
      kind: 'Status',
      reason: 'ServiceUnavailable',
      code: 503,
    })
    expect(unavailable.body).to.not.match(/127\.0\.0\.1|ECONN/)
    expect(Number(unavailable.headers['retry-after'])).to.be.above(0)
    expect((await sendToKapis(platformPath)).code).to.be.oneOf([401, 503])

    await component('start', 'kube-apiserver')
    const heal = await eventually(async () => {
      expect((await answered(token)).code).to.equal(200)
      expect((await answered(reader)).code).to.equal(200)
      await readsEverywhere()
    }, healMs)
    note('healed', heal)
    await cacheFollows()
    await watchSeesChanges()
  })

  it('of etcd, lists continue or answer 503, and recover automatically', async () => {
    await component('stop', 'etcd')
    for (let i = 0; i < 8; i++) {
      await answered(token)
      expect((await sendToKapis('/livez')).code).to.equal(200)
      await sleep(250)
    }
    await component('start', 'etcd')
    note('healed', await eventually(readsEverywhere, healMs))
    for (const who of [token, reader]) {
      await eventually(async () => {
        expect((await answered(who)).code).to.equal(200)
      }, healMs)
    }
    await cacheFollows()
    await watchSeesChanges()
  })

  it('of the serving certificate, which was deleted, another one is created and served', async () => {
    const secret = ['get', 'secret', 'kapis-serving', '-n', setting('KAPIS_NAMESPACE'), '-o']
    const oldUid = await kubectlOutput(...secret, 'jsonpath={.metadata.uid}')
    const oldPrint = await fingerprint()
    await kubectlOutput('delete', 'secret', 'kapis-serving', '-n', setting('KAPIS_NAMESPACE'))
    const seconds = await eventually(async () => {
      const uid = await kubectlOutput(...secret, 'jsonpath={.metadata.uid}')
      expect(uid).to.not.be.oneOf(['', oldUid])
      expect(await fingerprint()).to.not.equal(oldPrint)
    }, healMs)
    note('served', seconds)
    expect((await sendAs(token, platformPath)).code).to.equal(200)
    await eventually(readsEverywhere, healMs)
  })

  /** Sends a list, which may fail with a 503; any other error fails the test. */
  async function answered(who: string): Promise<HttpResponse> {
    const response = await sendAs(who, platformPath)
    expect(response.code, response.body).to.be.oneOf([200, 503])
    return response
  }

  async function readsEverywhere(): Promise<void> {
    const { code, stderr } = await kubectl('get', nodes, '-o', 'name', '--request-timeout=5s')
    expect(code, stderr).to.equal(0)
    const response = await sendAs(token, platformPath)
    expect(response.code, response.body).to.equal(200)
  }

  /** Waits until a change appears in a list, which proves that the cache is being updated. */
  async function cacheFollows(): Promise<void> {
    const [name = ''] = (await listAs(token, '?limit=1')).items.map(({ metadata }) => metadata.name)
    const mark = uniqueName('mark')
    await kubectlOutput('label', 'node', name, `e2e-mark=${mark}`, '--overwrite')
    const seconds = await eventually(async () => {
      const { items } = await listAs(token, `?labelSelector=e2e-mark%3D${mark}`)
      expect(items.map(({ metadata }) => metadata.name)).to.deep.equal([name])
    }, healMs)
    note('follows', seconds)
    await kubectlOutput('label', 'node', name, 'e2e-mark-')
  }

  async function watchSeesChanges(): Promise<void> {
    const path = 'jsonpath={.metadata.labels.e2e-mark}{"\\n"}'
    const watch = follow('kubectl', ['get', nodes, '--watch', '-o', path])
    try {
      await watch.line(() => true)
      const [name = ''] = (await listAs(token, '?limit=1')).items.map(({ metadata }) => metadata.name)
      const mark = uniqueName('watched')
      await kubectlOutput('label', 'node', name, `e2e-mark=${mark}`, '--overwrite')
      await watch.line(line => line === mark)
      await kubectlOutput('label', 'node', name, 'e2e-mark-')
    } finally {
      await watch.stop()
    }
  }
})

/** Prints a duration if E2E_FIGURES is set. */
function note(what: string, seconds: number): void {
  if (process.env.E2E_FIGURES) console.log(`      ${what} after ${seconds.toFixed(1)} s`)
}

function fingerprint(): Promise<string> {
  const { hostname, port } = new URL(setting('KAPIS_URL'))
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const ca = readFileSync(setting('KAPIS_CA'))
  const options = { host: hostname, port: Number(port), servername: 'localhost', ca }
  const socket = connect(options, () => {
    resolve(socket.getPeerCertificate().fingerprint256)
    socket.destroy()
  })
  socket.on('error', reject)
  return promise
}
