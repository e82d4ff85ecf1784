import { expect } from 'chai'
import {
  accessToken,
  type HttpResponse,
  kubectl,
  kubectlOutput,
  makeNamespace,
  nodeNames,
  sendToKapis,
  tokenOf,
  uniqueName,
} from './cluster.ts'
import { groupDomain, sendAs } from './http.ts'
import { type Documents, readDocuments } from './openapi-documents.ts'
import { setting } from './run.ts'

const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const face = (name: string, version: string) => `/kapis/${name}.${groupDomain}/${version}`
const resources = face('resources', 'v1alpha3')
const old = face('resources', 'v1alpha2')
const iam = face('iam', 'v1alpha2')
const tenant = face('tenant', 'v1alpha2')
const logging = face('logging', 'v1alpha2')

describe('OpenAPI', function () {
  this.timeout(60_000)
  const namespace = uniqueName('openapi')
  let documents: Documents
  let admin: string
  /** The token of a caller without permissions. */
  let unprivileged: string

  before(async () => {
    admin = await accessToken()
    await makeNamespace(namespace, ['unprivileged'])
    unprivileged = await tokenOf(namespace, 'unprivileged')
    documents = await readDocuments(admin)
  })
  after(() => kubectl('delete', 'namespace', namespace, '--wait=false'))

  it('lists its documents next to those of kube-apiserver, each with its hash', async () => {
    const index = await sendAs(unprivileged, '/openapi/v3')
    expect(index.headers['content-type']).to.equal('application/json')
    const { paths } = JSON.parse(index.body)
    expect(paths).to.include.keys(
      'api/v1',
      `apis/resources.${groupDomain}/v1alpha3`,
      'oauth',
      'kapis',
      iam.slice(1),
    )
    const native = JSON.parse(await kubectlOutput('get', '--raw', '/openapi/v3'))
    expect(paths).to.include.keys(...Object.keys(native.paths))
    const url = paths.oauth.serverRelativeURL
    expect(url).to.match(/^\/openapi\/v3\/oauth\?hash=[0-9A-F]{128}$/)
    const kept = await sendAs(unprivileged, url)
    expect(kept.headers['cache-control']).to.equal('public, immutable')
    const { etag } = kept.headers
    const again = await sendAs(unprivileged, '/openapi/v3/oauth', {
      headers: { 'if-none-match': String(etag) },
    })
    expect([again.code, again.body]).to.deep.equal([304, ''])
    const indexAgain = await sendAs(unprivileged, '/openapi/v3', {
      headers: { 'if-none-match': String(index.headers.etag) },
    })
    expect(indexAgain.code).to.equal(304)
  })

  it('does not delay kube-apiserver, which serves its own documents while it aggregates', async () => {
    // kube-apiserver fetches the documents about once per minute, possibly before or after this
    // test.
    const metrics = await kubectlOutput('get', '--raw', '/metrics')
    const queue = 'name="open_api_v3_aggregation_controller"'
    const read = (kind: string, labels: string) => {
      const line = metrics
        .split('\n')
        .find(line => line.startsWith(`workqueue_work_duration_seconds_${kind}{${labels}} `))
      return Number(line?.split(' ')[1])
    }
    const all = read('count', queue)
    expect(all).to.be.greaterThan(0)
    // A fetch that waits for a response times out after 60 s. On a busy machine a fetch may take
    // seconds.
    expect(all - read('bucket', `${queue},le="10"`), 'those that took more than 10 s').to.equal(0)
  })

  it('leaves kube-apiserver’s documents to kube-apiserver', async () => {
    const core = JSON.parse((await sendAs(unprivileged, '/openapi/v3/api/v1')).body)
    expect(core.paths).to.have.property('/api/v1/nodes')
    expect((await sendAs(unprivileged, '/openapi/v3/kapis/nothing/v1')).code).to.equal(404)
  })

  it('is readable by every caller who may read kube-apiserver’s, and read-only', async () => {
    for (const path of ['/openapi/v3', '/openapi/v3/oauth', `/openapi/v3${iam}`]) {
      expect((await sendToKapis(path)).code, path).to.equal(403)
      const posted = await sendAs(admin, path, { method: 'POST' })
      expect([posted.code, posted.headers.allow], path).to.deep.equal([405, 'GET, HEAD'])
    }
  })

  type Case = readonly [
    code: number,
    method: string,
    template: string,
    path: string,
    ask?: () => Promise<HttpResponse>,
  ]

  it('describes the responses', async () => {
    const [node = ''] = await nodeNames()
    const user = setting('KAPIS_USER')
    const send = (
      method: string,
      path: string,
      body: string,
      headers: Record<string, string> = json,
      token = admin,
    ) => sendAs(token, path, { method, headers, body })
    const client = `client_id=${setting('KAPIS_CLIENT_ID')}&client_secret=${setting('KAPIS_CLIENT_SECRET')}`
    const post = (path: string, body: string) => sendToKapis(path, { method: 'POST', headers: form, body })
    const any = '/kapis/{group}/{version}'
    const password = `grant_type=password&username=${user}&password=${setting('KAPIS_PASSWORD')}`
    const cases: readonly Case[] = [
      [200, 'get', `${resources}/{resource}`, `${resources}/nodes?limit=2`],
      [200, 'get', `${resources}/{resource}`, `${resources}/users`],
      [400, 'get', `${resources}/{resource}`, `${resources}/nodes?labelSelector=a%20b`],
      [404, 'get', `${resources}/{resource}`, `${resources}/unicorns`],
      [
        401,
        'get',
        `${resources}/{resource}`,
        `${resources}/nodes`,
        () => sendAs('wrong', `${resources}/nodes`),
      ],
      [
        403,
        'get',
        `${resources}/{resource}`,
        `${resources}/nodes`,
        () => sendAs(unprivileged, `${resources}/nodes`),
      ],
      [200, 'get', `${resources}/{resource}/{name}`, `${resources}/nodes/${node}`],
      [404, 'get', `${resources}/{resource}/{name}`, `${resources}/nodes/none`],
      [
        200,
        'get',
        `${resources}/namespaces/{namespace}/{resource}`,
        `${resources}/namespaces/default/pods?fields=metadata.name`,
      ],
      [200, 'get', `${resources}/components`, `${resources}/components`],
      [200, 'get', `${resources}/componenthealth`, `${resources}/componenthealth`],
      [404, 'get', `${resources}/components/{component}`, `${resources}/components/none`],
      [
        400,
        'get',
        `${resources}/namespaces/{namespace}/imageconfig`,
        `${resources}/namespaces/default/imageconfig`,
      ],
      [200, 'get', `${old}/components`, `${old}/components`],
      [200, 'get', `${old}/quotas`, `${old}/quotas`],
      [200, 'get', `${old}/namespaces/{namespace}/quotas`, `${old}/namespaces/default/quotas`],
      [200, 'get', `${old}/abnormalworkloads`, `${old}/abnormalworkloads`],
      [404, 'get', `${old}/namespaces/{namespace}/router`, `${old}/namespaces/default/router`],
      [200, 'get', `${old}/users/{user}/kubeconfig`, `${old}/users/${user}/kubeconfig`],
      [404, 'get', `${old}/users/{user}/kubeconfig`, `${old}/users/none/kubeconfig`],
      [200, 'get', `${iam}/users`, `${iam}/users?limit=3`],
      [200, 'get', `${iam}/users/{user}`, `${iam}/users/${user}`],
      [404, 'get', `${iam}/users/{user}`, `${iam}/users/none`],
      [
        422,
        'post',
        `${iam}/users`,
        '',
        () => send('POST', `${iam}/users`, '{"metadata":{"name":"A"},"spec":{}}'),
      ],
      [
        415,
        'post',
        `${iam}/users`,
        '',
        () => send('POST', `${iam}/users`, '{}', { 'content-type': 'text/plain' }),
      ],
      [400, 'put', `${iam}/users/{user}/status`, '', () => send('PUT', `${iam}/users/${user}/status`, '{}')],
      [200, 'get', `${iam}/users/{user}/loginrecords`, `${iam}/users/${user}/loginrecords?limit=2`],
      [200, 'get', `${tenant}/logs`, `${tenant}/logs?size=2`],
      [200, 'get', `${tenant}/logs`, `${tenant}/logs?operation=statistics`],
      [200, 'get', `${tenant}/logs`, `${tenant}/logs?operation=histogram`],
      [200, 'get', `${tenant}/logs`, `${tenant}/logs?operation=export&format=jsonl`],
      [400, 'get', `${tenant}/logs`, `${tenant}/logs?size=x`],
      [200, 'get', `${logging}/cluster`, `${logging}/cluster`],
      [
        200,
        'post',
        `${logging}/ingest/jsonlines`,
        '',
        () =>
          send(
            'POST',
            `${logging}/ingest/jsonlines`,
            JSON.stringify({
              time: new Date().toISOString(),
              log: 'openapi',
              kubernetes: { namespace_name: 'default', pod_name: 'openapi', container_name: 'e2e' },
            }),
          ),
      ],
      [
        400,
        'post',
        `${logging}/ingest/jsonlines`,
        '',
        () => send('POST', `${logging}/ingest/jsonlines`, '{'),
      ],
      [
        403,
        'post',
        `${logging}/ingest/_bulk`,
        '',
        () => send('POST', `${logging}/ingest/_bulk`, '{}', json, unprivileged),
      ],
      [200, 'get', '/kapis/version', '/kapis/version', () => sendToKapis('/kapis/version')],
      [
        200,
        'get',
        `${face('config', 'v1alpha2')}/configs/configz`,
        `${face('config', 'v1alpha2')}/configs/configz`,
      ],
      [
        200,
        'get',
        `${face('config', 'v1alpha2')}/configs/oauth`,
        `${face('config', 'v1alpha2')}/configs/oauth`,
      ],
      [200, 'get', `${any}/{resource}`, '/kapis/apps/v1/deployments?limit=1'],
      [404, 'get', `${any}/{resource}`, '/kapis/apps/v1/unicorns'],
      [200, 'get', '/kapi/v1/{resource}/{name}', `/kapi/v1/nodes/${node}`],
      [
        404,
        'delete',
        `${any}/namespaces/{namespace}/{resource}/{name}`,
        '',
        () => sendAs(admin, '/kapis/apps/v1/namespaces/default/deployments/none', { method: 'DELETE' }),
      ],
      [200, 'post', '/oauth/token', '', () => post('/oauth/token', `${password}&${client}`)],
      [400, 'post', '/oauth/token', '', () => post('/oauth/token', `grant_type=none&${client}`)],
      [401, 'post', '/oauth/token', '', () => post('/oauth/token', 'grant_type=password&client_id=none')],
      [
        415,
        'post',
        '/oauth/token',
        '',
        () => sendToKapis('/oauth/token', { method: 'POST', headers: json, body: '{}' }),
      ],
      [200, 'post', '/oauth/introspect', '', () => post('/oauth/introspect', `token=${admin}&${client}`)],
      [200, 'post', '/oauth/revoke', '', () => post('/oauth/revoke', `token=x&${client}`)],
      [200, 'get', '/oauth/userinfo', '/oauth/userinfo'],
      [401, 'get', '/oauth/userinfo', '', () => sendToKapis('/oauth/userinfo')],
      [200, 'get', '/oauth/keys', '', () => sendToKapis('/oauth/keys')],
      [
        200,
        'get',
        '/oauth/.well-known/openid-configuration',
        '',
        () => sendToKapis('/oauth/.well-known/openid-configuration'),
      ],
      [200, 'get', '/oauth/personal-access-tokens', '/oauth/personal-access-tokens'],
      [
        404,
        'delete',
        '/oauth/personal-access-tokens/{id}',
        '',
        () => sendAs(admin, '/oauth/personal-access-tokens/none', { method: 'DELETE' }),
      ],
      [
        200,
        'get',
        '/oauth/login',
        '',
        () => sendToKapis('/oauth/login', { headers: { accept: 'text/html' } }),
      ],
      [200, 'get', '/oauth/style.css', '', () => sendToKapis('/oauth/style.css')],
      [200, 'get', '/oauth/show-password.js', '', () => sendToKapis('/oauth/show-password.js')],
      [200, 'get', '/oauth/passkey.js', '', () => sendToKapis('/oauth/passkey.js')],
      [400, 'get', '/oauth/authorize', '', () => sendToKapis('/oauth/authorize')],
    ]
    for (const [code, method, template, path, send = () => sendAs(admin, path)] of cases) {
      const response = await send()
      expect(response.code, `${method} ${template} ${path}: ${response.body.slice(0, 300)}`).to.equal(code)
      documents.expectDescribed(method, template, response)
    }
  })

  it('describes every supported method: others are rejected, with a list', async () => {
    for (const key of [resources, old, iam, tenant, logging].map(path => path.slice(1))) {
      for (const [template, row] of Object.entries(documents.byKey.get(key)?.paths ?? {})) {
        const taken = Object.keys(row).map(method => method.toUpperCase())
        const other = ['GET', 'POST', 'PUT', 'PATCH'].find(method => !taken.includes(method)) ?? ''
        const resource = template.includes('/namespaces/{') ? 'pods' : 'nodes'
        const path = template.replace('{resource}', resource).replaceAll(/\{\w+\}/g, 'x')
        const response = await sendAs(admin, path, {
          method: other,
          headers: json,
          body: other === 'GET' ? '' : '{}',
        })
        expect(response.code, `${other} ${path}: ${response.body}`).to.equal(405)
        const named = String(response.headers.allow).split(', ')
        expect(
          named.filter(method => method !== 'HEAD'),
          path,
        ).to.have.members(taken)
      }
    }
  })
})
