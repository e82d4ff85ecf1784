import { createServer, type Server } from 'node:http'
import { networkInterfaces } from 'node:os'
import { expect } from 'chai'
import { accessToken, kubectlOutput, makeNamespace, tokenOf, uniqueName } from './cluster.ts'
import { apply, askKubeRaw, askRaw } from './http.ts'

const namespace = uniqueName('proxied')

/**
 * Returns an address of this machine to which kube-apiserver connects; it rejects loopback
 * addresses.
 */
function ownAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap(list => list ?? [])
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? ''
}

describe('a path below a proxy subresource', function () {
  this.timeout(60_000)
  let server: Server
  let kubeToken = ''
  let token = ''
  let base = ''

  before(async () => {
    // kube-apiserver repeats the path in X-Forwarded-Uri, which requires a larger header limit.
    // Beyond the limit, connections are occasionally reset.
    server = createServer({ maxHeaderSize: 64 * 1024 }, (req, res) => res.end(`${req.method} ${req.url}`))
    const listening = Promise.withResolvers<void>()
    server.listen(0, ownAddress(), listening.resolve)
    await listening.promise
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    await makeNamespace(namespace, ['default', 'reader'])
    const metadata = { name: 'echo', namespace }
    // The node of the pod does not exist, so no other program writes its status.
    const spec = { nodeName: namespace, containers: [{ name: 'echo', image: 'none' }] }
    await apply({ apiVersion: 'v1', kind: 'Pod', metadata, spec })
    const status = JSON.stringify({ status: { podIP: ownAddress(), podIPs: [{ ip: ownAddress() }] } })
    const patch = [
      'patch',
      'pod',
      'echo',
      '-n',
      namespace,
      '--subresource=status',
      '--type=merge',
      '-p',
      status,
    ]
    await kubectlOutput(...patch)
    const subject = `--serviceaccount=${namespace}:reader`
    await kubectlOutput('create', 'role', 'proxy', '-n', namespace, '--verb=get', '--resource=pods/proxy')
    await kubectlOutput('create', 'rolebinding', 'proxy', '-n', namespace, '--role=proxy', subject)
    kubeToken = await tokenOf(namespace, 'reader')
    token = await accessToken()
    base = `/api/v1/namespaces/${namespace}/pods/echo:${port}/proxy/`
  })
  after(async () => {
    server.close()
    server.closeAllConnections()
    await kubectlOutput('delete', `namespace/${namespace}`, '--wait=false')
  })

  const rests = [
    ...['', 'a', 'api/queues/%2F/q', 'api/queues/%2f/q%252F', 'a//b', '/', '//', 'a/./b', 'a/../b', '../a'],
    ...[
      '../../../secrets',
      '../../../../../secrets',
      '%2e%2e/%2e%2e/secrets',
      '..%2f..%2fsecrets',
      'a%5Cb',
      'a\\b',
    ],
    ...['a%00b', '%ff', '%zz', '%', 'a;b=c', 'a%20b', 'x'.repeat(10_000), 'a?b=%2F&c=//../'],
  ]
  for (const rest of rests) {
    it(`is forwarded to the pod as in kube-apiserver: ${JSON.stringify(rest.slice(0, 40))}`, async () => {
      const headers = { authorization: `Bearer ${kubeToken}` }
      const [here, there] = [
        await askRaw(base + rest, { headers }),
        await askKubeRaw(base + rest, { headers }),
      ]
      expect(here.code).to.equal(there.code)
      if (there.code === 200) expect(here.body).to.equal(there.body)
    })
  }

  it('returns nothing that its caller may not read', async () => {
    for (const climb of [
      '../../../secrets',
      '..%2f..%2f..%2fsecrets',
      '%2e%2e/%2e%2e/%2e%2e/secrets',
      '//../../../secrets',
    ]) {
      const { body } = await askRaw(base + climb, { headers: { authorization: `Bearer ${kubeToken}` } })
      expect(body, climb).not.to.contain('SecretList')
    }
    // Paths that lead out of the proxy subresource.
    for (const target of [
      base.replace('/proxy/', '/../../secrets'),
      base.replace('/proxy/', '/%70roxy/../../x'),
    ]) {
      const { code } = await askRaw(target, { headers: { authorization: `Bearer ${token}` } })
      expect(code, target).to.equal(400)
    }
  })
})
