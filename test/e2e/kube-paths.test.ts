import { expect } from 'chai'
import { accessToken, kubectl, makeNamespace, sendToKube, tokenOf, uniqueName } from './cluster.ts'
import { askRaw, sendAs } from './http.ts'

const namespace = uniqueName('paths')

/** Paths of kube-apiserver that are neither resources nor discovery, but that clients use. */
describe('a path that only kube-apiserver serves', function () {
  this.timeout(60_000)
  const tokens: Record<string, string> = {}

  before(async () => {
    await makeNamespace(namespace, ['plain'])
    tokens.administrator = await accessToken()
    tokens.plain = await tokenOf(namespace, 'plain')
    tokens.unprivileged = ''
  })
  after(() => kubectl('delete', 'namespace', namespace, '--wait=false'))

  const headersOf = (token = ''): Record<string, string> =>
    token === ''
      ? { accept: 'application/json' }
      : { accept: 'application/json', authorization: `Bearer ${token}` }
  const paths = [
    ...['/', '/index.html', '/version', '/version/', '/openid/v1/jwks', '/openid/v1/jwks/'],
    ...['/.well-known/openid-configuration', '/.well-known/openid-configuration/'],
    ...['/livez/etcd', '/readyz/etcd', '/healthz/etcd', '/livez/etcd?verbose', '/readyz/no-such-check'],
    ...['/livez/poststarthook/start-apiextensions-informers', '/livez/informer-sync', '/livez/ping/'],
    ...['/no/such/path', '/openapi/v2/', '/debug/pprof', '/statusz', '/flagz'],
  ]
  for (const path of paths) {
    it(`returns the response of kube-apiserver to every caller: ${path}`, async () => {
      for (const [who, token] of Object.entries(tokens)) {
        const headers = headersOf(token)
        const [here, there] = [await askRaw(path, { headers }), await sendToKube(token, path, { headers })]
        const wireOf = ({ code, headers: { 'content-type': type, location } }: typeof here) => ({
          code,
          type,
          location,
        })
        expect(wireOf(here), who).to.deep.equal(wireOf(there))
        // These bodies contain times and IDs of the process, and are not compared.
        if (!/^\/(statusz|flagz)/.test(path)) expect(here.body, who).to.equal(there.body)
      }
    })
  }

  it('is listed by `kubectl get --raw /`, with the metadata of the cluster', async () => {
    const { paths } = JSON.parse((await sendAs(tokens.administrator ?? '', '/')).body)
    expect(paths).to.include.members(['/apis', '/version', '/openid/v1/jwks'])
    const { body } = await sendAs(tokens.plain ?? '', '/.well-known/openid-configuration')
    expect(JSON.parse(body)).to.include({ issuer: 'https://kubernetes.default.svc' })
    for (const path of [
      '/oauth/.well-known/openid-configuration',
      '/.well-known/openid-configuration/oauth',
      '/.well-known/oauth-authorization-server/oauth',
    ])
      expect(JSON.parse((await askRaw(path)).body).issuer, path).to.match(/\/oauth$/)
  })

  it('is served by Kapis for /metrics/slis: its own checks', async () => {
    await askRaw('/readyz')
    const { code, headers, body } = await sendAs(tokens.administrator ?? '', '/metrics/slis')
    expect(code).to.equal(200)
    expect(headers['content-type']).to.match(/^text\/plain; version=0\.0\.4/)
    expect(body).to.include('kubernetes_healthcheck{name="informer-sync",type="readyz"} 1\n')
    expect(body).to.match(
      /^kubernetes_healthchecks_total\{name="ping",status="success",type="readyz"\} [1-9]\d*$/m,
    )
    expect((await sendAs(tokens.plain ?? '', '/metrics/slis')).code).to.equal(403)
  })
})
