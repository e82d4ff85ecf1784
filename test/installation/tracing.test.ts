import { join } from 'node:path'
import { expect } from 'chai'
import { repository } from '../../hack/controlplane/settings.ts'
import { eventually } from '../e2e/http.ts'
import { type CollectedSpan, type Collector, startCollector } from '../peers/otlp-collector.ts'
import { bareCluster, type Cluster } from './control-plane.ts'
import { get } from './get.ts'
import { type Login, logIn, readAdministrator } from './log-in.ts'
import { type Pod, startPod } from './pod.ts'
import { uninstall } from './uninstall.ts'
import { untilServed } from './until-served.ts'

const namespace = 'kapis-system'
const overlay = join(repository, 'manifests/overlays/default')
const role = `traced-${process.pid}`
const route = '/apis/resources.kapis.io/v1alpha3/nodes'

describe('traces of an installation', function () {
  this.timeout(400_000)
  let cluster: Cluster
  let collector: Collector
  let pod: Pod
  let admin: Login

  before(async () => {
    cluster = await bareCluster()
    collector = await startCollector()
    await cluster.output(['apply', '-k', overlay])
    const env = {
      KAPIS_TRACING_ENDPOINT: collector.url,
      KAPIS_TRACING_SAMPLING_RATE_PER_MILLION: '1000000',
      KAPIS_SHUTDOWN_DELAY_SECONDS: '0',
    }
    pod = await startPod(cluster, { name: 'traced', namespace, env })
    await untilServed(cluster)
    admin = await readAdministrator(cluster, namespace)
  })
  after(async () => {
    await pod?.stop()
    for (const kind of ['clusterrolebinding', 'clusterrole'])
      await cluster.kubectl(['delete', kind, role, '--ignore-not-found'])
    await collector.stop()
    await uninstall(cluster, ['-k', overlay])
  })

  async function span(matches: (span: CollectedSpan) => boolean): Promise<CollectedSpan> {
    const names = () => collector.spans.map(({ name }) => name).join(', ')
    await eventually(async () => {
      expect(collector.spans.some(matches), names()).to.equal(true)
    }, 20_000)
    const found = collector.spans.find(matches)
    if (found === undefined) throw new Error('the received spans were deleted')
    return found
  }
  const parentOf = ({ traceId, parentId }: CollectedSpan) =>
    span(other => other.traceId === traceId && other.spanId === parentId)

  it('contain kubectl get through kube-apiserver as a span, with the access review below it', async () => {
    // A user without administrator permissions: Kapis checks their permissions again, but those of
    // administrators need no check.
    await cluster.output(['-n', namespace, 'create', 'serviceaccount', 'traced'])
    const rules = [{ apiGroups: ['resources.kapis.io'], resources: ['nodes'], verbs: ['list'] }]
    const right = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: role },
      rules,
    }
    await cluster.output(['apply', '-f', '-'], JSON.stringify(right))
    const subject = `--serviceaccount=${namespace}:traced`
    await cluster.output(['create', 'clusterrolebinding', role, `--clusterrole=${role}`, subject])
    const token = (await cluster.output(['-n', namespace, 'create', 'token', 'traced'])).trim()
    const asAccount = ['--kubeconfig', '/dev/null', '--server', cluster.env.KUBE_URL ?? '', '--token', token]
    const ca = ['--certificate-authority', join(cluster.runDir, 'pki/ca.crt')]
    await eventually(async () => {
      const get = ['get', 'nodes.resources.kapis.io', '-o', 'name']
      const listed = await cluster.output([...asAccount, ...ca, ...get])
      expect(listed).to.include('node.resources.kapis.io/worker-1')
    }, 20_000)
    const lists = () =>
      collector.spans.filter(({ kind, name }) => kind === 'server' && name === `GET ${route}`)
    // Selects the list with a check: earlier lists of other users needed none.
    const isOfList = (parentId: string | undefined) => lists().some(({ spanId }) => spanId === parentId)
    const review = await span(({ parentId, name }) => name.startsWith('POST ') && isOfList(parentId))
    const request = await parentOf(review)
    expect(request).to.include({ service: 'kapis-apiserver', isError: false })
    expect(request.attributes).to.include({ 'http.route': route, 'http.response.status_code': 200 })
    expect(request.attributes['user_agent.original']).to.include('kubectl')
    expect(review).to.include({ kind: 'client', traceId: request.traceId, service: 'kapis-apiserver' })
    expect(review.name).to.equal('POST /apis/authorization.k8s.io/v1/subjectaccessreviews')
    expect(review.attributes).to.include({
      'peer.service': 'kube-apiserver',
      'http.response.status_code': 201,
    })
    expect(review.startMs).to.be.at.least(request.startMs)
    expect(review.endMs).to.be.at.most(request.endMs)
  })

  it('contain a login through both programs in one trace, without a secret', async () => {
    const { token, refresh } = await logIn(pod, admin)
    const inListener = await span(
      ({ service, attributes }) =>
        service === 'kapis-oauth' &&
        attributes['url.path'] === '/oauth/token' &&
        attributes['http.response.status_code'] === 200,
    )
    const forwarded = await parentOf(inListener)
    expect(forwarded).to.include({ kind: 'client', service: 'kapis-apiserver', name: 'POST /oauth/token' })
    expect(forwarded.attributes).to.include({ 'peer.service': 'kapis-oauth', 'network.transport': 'unix' })
    expect(await parentOf(forwarded)).to.include({ kind: 'server', parentId: '', name: 'POST /oauth/token' })

    await get(`${pod.url}/api/v1/namespaces?limit=1`, { token })
    const proxied = await span(({ name, kind }) => name === 'GET /api/v1/namespaces' && kind === 'client')
    expect(proxied.attributes['peer.service']).to.equal('kube-apiserver')
    expect(await parentOf(proxied)).to.include({ kind: 'server', name: 'GET /api/v1/namespaces' })
    for (const secret of [admin.password, token, refresh, 'client_secret'])
      expect(collector.bytes().includes(secret), secret.slice(0, 4)).to.equal(false)
  })

  it('are flushed when the programs stop', async () => {
    const path = '/api/v1/namespaces/default'
    const { token } = await logIn(pod, admin)
    expect((await get(`${pod.url}${path}`, { token })).code).to.equal(200)
    expect(await pod.stop()).to.deep.equal([0, 0])
    expect(collector.spans.filter(({ attributes }) => attributes['url.path'] === path)).to.have.length(1)
    expect(pod.log('apiserver')).to.not.include('failed to export spans')
  })
})
