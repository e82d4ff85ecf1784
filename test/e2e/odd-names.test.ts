import { expect } from 'chai'
import { accessToken, kubectl, kubectlOutput, makeNamespace, uniqueName } from './cluster.ts'
import { askRaw, groupDomain, sendAs } from './http.ts'
import { createUser, removeUser } from './oauth.ts'
import { run } from './run.ts'

const namespace = uniqueName('odd')
const iam = `/kapis/iam.${groupDomain}/v1alpha2`
const logging = `/kapis/logging.${groupDomain}/v1alpha2`
const tenant = `/kapis/tenant.${groupDomain}/v1alpha2`
const resources = `/kapis/resources.${groupDomain}/v1alpha3`
/**
 * Inherited properties of JavaScript objects, which must not be found under names that callers
 * send.
 */
const names = ['constructor', '__proto__', 'toString']

describe('names of Object.prototype', function () {
  this.timeout(120_000)
  let token = ''

  before(async () => {
    token = await accessToken()
    await makeNamespace(namespace, [])
  })
  after(() => kubectl('delete', 'namespace', namespace, '--wait=false'))

  const paths = [
    `${resources}/nodes`,
    `/apis/resources.${groupDomain}/v1alpha3/nodes`,
    `${iam}/users`,
    `${tenant}/logs`,
    `${tenant}/events`,
    '/api/v1/namespaces/default',
    '/version',
    '/readyz',
    '/openapi/v3',
    '/docs',
  ]

  for (const name of names) {
    it(`${name} is accepted as a header`, async () => {
      for (const path of paths)
        for (const header of [name, `impersonate-extra-${name}`, `x-remote-extra-${name}`]) {
          const { code, body } = await askRaw(path, {
            headers: { authorization: `Bearer ${token}`, [header]: 'x' },
          })
          expect(code, `${header} ${path}: ${body}`).to.be.below(500)
        }
    })

    it(`${name} is accepted as a header value`, async () => {
      const headers = [
        'accept',
        'accept-encoding',
        'content-type',
        'content-encoding',
        'traceparent',
        'range',
      ]
      for (const path of [...paths, `${logging}/ingest/jsonlines`])
        for (const header of headers) {
          const method = header.startsWith('content') ? 'POST' : 'GET'
          const sent = method === 'POST' ? { body: '{}' } : {}
          const { code, body } = await sendAs(token, path, { method, headers: { [header]: name }, ...sent })
          expect(code, `${header} ${path}: ${body}`).to.be.below(500)
        }
    })

    it(`${name} is accepted as a parameter and its value`, async () => {
      const parameters = [
        ...['sortBy', 'fieldSelector', 'labelSelector', 'fields', 'q', 'status', 'annotation', 'pretty'],
        ...['operation', 'interval', 'sort', 'size', 'namespaces', 'log_query', 'export_format', 'exclude'],
        ...['resourceVersion', 'resourceVersionMatch', 'continue', 'limit', 'timeout', 'dryRun'],
      ]
      // kube-apiserver itself returns 500 for a get with a resourceVersion that is not a
      // number.
      for (const path of paths.filter(each => !each.startsWith('/api/'))) {
        const queries = [
          `${name}=x`,
          name,
          ...parameters.flatMap(key => [`${key}=${name}`, `${key}=.${name}%3Dx`]),
        ]
        for (const query of queries) {
          const { code, body } = await sendAs(token, `${path}?${query}`)
          expect(code, `${path}?${query}: ${body}`).to.be.below(500)
        }
      }
    })

    it(`${name} is accepted as a path segment`, async () => {
      for (const path of [
        `/${name}`,
        `/api/v1/${name}`,
        `/apis/${name}`,
        `/apis/${name}/v1/${name}`,
        `/kapis/${name}/v1/${name}`,
        `/kapi/v1/${name}`,
        `${resources}/${name}`,
        `${resources}/namespaces/${name}/${name}/${name}`,
        `${iam}/users/${name}`,
        `${iam}/users/a/${name}`,
        `${logging}/namespaces/a/${name}/b`,
        `${logging}/${name}`,
        `${tenant}/${name}`,
        `/healthz/${name}`,
        `/oauth/${name}`,
        `/docs/${name}`,
        `/openapi/v3/apis/${name}/v1`,
      ]) {
        const { code, body } = await sendAs(token, path)
        expect(code, `${path}: ${body}`).to.be.below(500)
      }
    })

    it(`${name} is accepted in a body`, async () => {
      const json = { 'content-type': 'application/json' }
      const user = (metadata: string) =>
        `{"metadata":${metadata},"spec":{"email":"a@example.org","${name}":"x","password":"Correct horse 1"}}`
      const bodies: readonly (readonly [string, string, string])[] = [
        [
          'POST',
          `${iam}/users`,
          user(`{"name":"odd","labels":{"${name}":"x"},"annotations":{"${name}":"x"}}`),
        ],
        ['POST', `${iam}/users`, `{"${name}":{},"metadata":{"name":"odd","${name}":{}},"spec":{}}`],
        ['POST', '/oauth/personal-access-tokens', `{"name":"odd","${name}":1,"scope":"${name}"}`],
        [
          'POST',
          `${logging}/ingest/jsonlines`,
          `{"${name}":1,"log":"x","kubernetes":{"labels":{"${name}":"x"}}}`,
        ],
        ['POST', `${logging}/ingest/_bulk`, `{"${name}":{}}\n{"log":"x"}\n`],
      ]
      for (const [method, path, body] of bodies) {
        const response = await sendAs(token, path, { method, headers: json, body })
        expect(response.code, `${path} ${body}: ${response.body}`).to.be.within(200, 499)
      }
    })
  }

  it('are accepted as labels and annotations', async () => {
    const labels = { constructor: 'a', toString: 'b' }
    const user = { username: uniqueName('odd'), password: 'Correct horse 1' }
    await createUser(user)
    const patch = { metadata: { labels, annotations: labels } }
    const headers = { 'content-type': 'application/merge-patch+json' }
    const patched = await sendAs(token, `${iam}/users/${user.username}`, {
      ...{ method: 'PATCH', headers },
      body: JSON.stringify(patch),
    })
    expect(patched.code, patched.body).to.equal(200)
    expect(JSON.parse(patched.body).metadata.labels).to.include(labels)
    const found = await sendAs(token, `${iam}/users?labelSelector=constructor%3Da`)
    expect(JSON.parse(found.body).totalItems).to.equal(1)
    await removeUser(user.username)
  })
})

describe('deeply nested bodies', function () {
  this.timeout(60_000)
  let token = ''
  const user = { username: uniqueName('deep'), password: 'Correct horse 1' }
  const tooDeep = 'the JSON is nested deeper than 100 levels'

  before(async () => {
    token = await accessToken()
    await createUser(user)
  })
  after(() => removeUser(user.username))

  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  const json = 'application/json'
  const rows: readonly (readonly [
    method: string,
    path: string,
    type: string,
    body: (deep: string) => string,
  ])[] = [
    ['PATCH', `${iam}/users/${user.username}`, 'application/merge-patch+json', deep => `{"spec":${deep}}`],
    ['PUT', `${iam}/users/${user.username}`, json, deep => `{"spec":${deep}}`],
    ['POST', `${iam}/users`, json, deep => `{"metadata":{"name":"deep","labels":${deep}},"spec":{}}`],
    ['PUT', `${iam}/users/${user.username}/password`, json, deep => deep],
    ['PUT', `${iam}/users/${user.username}/status`, json, deep => deep],
    ['POST', '/oauth/personal-access-tokens', json, deep => deep],
  ]
  for (const [method, path, type, body] of rows)
    for (const levels of [200, 20_000])
      it(`${method} ${path} with ${levels} levels is rejected with 400`, async () => {
        const headers = { 'content-type': type }
        const response = await sendAs(token, path, { method, headers, body: body(nested(levels)) })
        expect(response.code, response.body).to.equal(400)
        expect(response.body).to.include(tooDeep)
      })

  it('are stored as a line, and do not end the batch', async () => {
    const time = new Date().toISOString()
    const lines = [
      { time, log: 'x' },
      `{"time":${nested(20_000)},"log":"x"}`,
      `{"time":"${time}","log":"x","kubernetes":{"labels":{"a":${nested(20_000)}}}}`,
      `{"time":${Date.now() / 1000},"log":"x","more":${nested(20_000)}}`,
    ].map(line => (typeof line === 'string' ? line : JSON.stringify(line)))
    const response = await sendAs(token, `${logging}/ingest/_bulk`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/x-ndjson' } },
      body: lines.map(line => `{"create":{}}\n${line}\n`).join(''),
    })
    const { errors, items } = JSON.parse(response.body)
    expect([response.code, errors]).to.deep.equal([200, false])
    expect(items.map((item: { create: { status: number } }) => item.create.status)).to.deep.equal([
      201, 201, 201, 201,
    ])
  })

  it('of objects in kube-apiserver are listed, watched and returned in every representation, at any depth', async () => {
    const name = uniqueName('deep')
    const kind = { group: 'odd.example.org', names: { plural: 'deeps', singular: 'deep', kind: 'Deep' } }
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
    const versions = [{ name: 'v1', served: true, storage: true, schema }]
    const definition = {
      ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
      ...{ metadata: { name: 'deeps.odd.example.org' }, spec: { ...kind, scope: 'Cluster', versions } },
    }
    await run('kubectl', ['create', '-f', '-'], { stdin: JSON.stringify(definition) })
    try {
      await kubectlOutput('wait', '--for=condition=Established', 'crd/deeps.odd.example.org', '--timeout=30s')
      const made = await sendAs(token, '/apis/odd.example.org/v1/deeps', {
        ...{ method: 'POST', headers: { 'content-type': json } },
        body: `{"apiVersion":"odd.example.org/v1","kind":"Deep","metadata":{"name":"${name}"},"spec":${nested(3_000)}}`,
      })
      expect(made.code, made.body.slice(0, 300)).to.equal(201)
      const at = '/kapis/odd.example.org/v1/deeps'
      for (const query of [
        '',
        `/${name}`,
        '?fields=spec',
        '?sortBy=.spec.a.a',
        '?fieldSelector=spec.a%3Dx',
        '?q=deep',
      ]) {
        const { code, body } = await sendAs(token, `${at}${query}`)
        expect(code, `${query}: ${body.slice(0, 300)}`).to.equal(200)
      }
    } finally {
      await kubectl('delete', 'crd', 'deeps.odd.example.org')
    }
  })
})
