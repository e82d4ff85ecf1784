import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import { expect } from 'chai'
import {
  accessToken,
  kubectl,
  kubectlOutput,
  makeNamespace,
  sendToKube,
  tokenOf,
  uniqueName,
} from './cluster.ts'
import { eventually, expectStatus, groupDomain, sendAs, statusBody } from './http.ts'
import { sendRaw } from './raw-https.ts'
import { setting } from './run.ts'

const namespace = uniqueName('limits')
// Default limit of concurrent writes in kapis-apiserver (docs/config.md).
const places = 200
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`

// Access reviews, which need no permission.
const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
const review = JSON.stringify({
  ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' },
  spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
})
const json = { 'content-type': 'application/json' }

/** Returns a request whose body remains incomplete. */
function unfinished(path: string, token: string, length = 1_000): string {
  const head = [`POST ${path} HTTP/1.1`, 'Host: front', `Authorization: Bearer ${token}`]
  const all = [...head, 'Content-Type: application/json', `Content-Length: ${length}`]
  return `${all.join('\r\n')}\r\n\r\n{${' '.repeat(length / 2)}`
}

describe('limits of kapis-apiserver', function () {
  this.timeout(90_000)
  let token: string
  const open = new Set<TLSSocket>()
  /** Sends incomplete requests on several connections, and keeps the connections open. */
  async function hold(count: number, bytes: string): Promise<void> {
    const { hostname, port } = new URL(setting('KAPIS_URL'))
    const to = { host: hostname, port: Number(port), ca: readFileSync(setting('KAPIS_CA')) }
    const sent = Array.from({ length: count }, () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const socket = connect(to, () => socket.write(bytes, () => resolve()))
      socket.on('error', () => undefined).on('close', () => open.delete(socket))
      open.add(socket.resume())
      return promise
    })
    await Promise.all(sent)
    await sleep(500)
  }

  before(async () => {
    await makeNamespace(namespace, ['unprivileged', 'slow'])
    token = await accessToken()
  })
  after(async () => {
    for (const socket of open) socket.destroy()
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  it('return 504 to a request that does not end in time, and close its connection', async () => {
    const { codes, text } = await sendRaw(unfinished(`${configMaps}?timeout=1s`, token))
    expect(codes, text).to.deep.equal([504])
    const [head = '', body = ''] = text.split('\r\n\r\n')
    expect(head).to.match(/^connection: close$/im)
    expect(head).to.match(/^audit-id: \S+$/im)
    const message = 'Timeout: request did not complete within the allotted timeout'
    expect(JSON.parse(body)).to.deep.equal(statusBody(504, 'Timeout', message, {}))
  })

  it('keep bodies that do not arrive, of a user without permissions, from delaying others', async () => {
    const slow = await tokenOf(namespace, 'slow')
    await hold(2 * places, unfinished(reviews, slow))
    for (const writer of [token, await tokenOf(namespace, 'unprivileged'), slow]) {
      const began = performance.now()
      const response = await sendAs(writer, reviews, { method: 'POST', headers: json, body: review })
      expect([response.code, performance.now() - began < 10_000], response.body).to.deep.equal([201, true])
    }
    for (const socket of open) socket.destroy()
  })

  it('queue a user who exceeds a user’s share, then answer 429, and delay no other user', async () => {
    const slow = await tokenOf(namespace, 'slow')
    // Kapis buffers a part of each body and proxies it, and kube-apiserver waits for the rest.
    await hold(places / 4, unfinished(reviews, slow, 200_000))
    const other = await tokenOf(namespace, 'unprivileged')
    const refused = sendAs(slow, reviews, { method: 'POST', headers: json, body: review })
    const began = performance.now()
    const response = await sendAs(other, reviews, { method: 'POST', headers: json, body: review })
    expect([response.code, performance.now() - began < 10_000], response.body).to.deep.equal([201, true])
    expect((await sendAs(slow, '/api/v1/namespaces')).code).to.equal(403)
    expectStatus(
      await refused,
      statusBody(429, 'TooManyRequests', 'Too many requests, please try again later.', {
        retryAfterSeconds: 1,
      }),
    )
    expect((await refused).headers['retry-after']).to.equal('1')
    expect(performance.now() - began).to.be.above(14_000)
    const metrics = await sendAs(token, '/metrics')
    expect(metrics.body).to.match(/kapis_requests_rejected_total\{kind="mutating"\} [1-9]/)

    for (const socket of open) socket.destroy()
    await eventually(async () => {
      const again = await sendAs(slow, reviews, { method: 'POST', headers: json, body: review })
      expect(again.code).to.equal(201)
    }, 10_000)
  })

  it('reject parameters, selectors and request heads that are too long, from every caller', async () => {
    const unprivileged = await tokenOf(namespace, 'unprivileged')
    const terms = (count: number, term: string) => Array.from({ length: count }, (_, i) => term + i).join(',')
    const at = [
      `/kapis/resources.${groupDomain}/v1alpha3/nodes`,
      `/apis/resources.${groupDomain}/v1alpha3/nodes`,
    ]
    const own = ['/kapi/v1/nodes', `/kapis/iam.${groupDomain}/v1alpha2/users`, ...at]
    for (const path of own) {
      for (const [query, message] of [
        [
          `fields=${'['.repeat(9_000)}`,
          'the query parameter "fields" is longer than the 8192 characters that are allowed',
        ],
        [`labelSelector=${terms(33, 'a')}`, 'labelSelector has 33 terms; at most 32 are allowed'],
        [
          `fieldSelector=${terms(33, 'metadata.name!=a')}`,
          'fieldSelector has 33 terms; at most 32 are allowed',
        ],
      ] as const) {
        const response = await sendAs(token, `${path}?${query}`)
        expectStatus(response, statusBody(400, 'BadRequest', message))
        expect((await sendAs(unprivileged, `${path}?${query}`)).code).to.be.oneOf([400, 403])
      }
      expect((await sendAs(token, `${path}?labelSelector=${terms(32, '!a')}`)).code).to.equal(200)
      expect((await sendAs(unprivileged, `${path}?q=${'x'.repeat(70_000)}`)).code).to.equal(431)
    }
    // Kapis does not limit the selectors of proxied requests, and kube-apiserver accepts these.
    const query = `labelSelector=${terms(1_000, '!a')}&fieldSelector=${terms(100, 'metadata.name!=a')}`
    expect((await sendAs(token, `/api/v1/nodes?${query}`)).code).to.equal(200)
  })

  it('grant no exemption from the deadline by path: only requests that are served as watches have none', async () => {
    const users = `/kapis/iam.${groupDomain}/v1alpha2`
    for (const path of [`${users}/users?follow=1&timeout=1s`, `${users}/watch/users?timeout=1s`]) {
      const { codes, text } = await sendRaw(unfinished(path, token))
      expect(codes, `${path}: ${text}`).to.deep.equal([504])
    }
  })

  it('keep Kapis’ own requests out of the share of other service accounts in kube-apiserver', async () => {
    const uid = await kubectlOutput('get', 'flowschema', 'kapis', '-o', 'jsonpath={.metadata.uid}')
    const own = await sendToKube(
      await tokenOf(setting('KAPIS_NAMESPACE'), 'kapis'),
      '/api/v1/namespaces?limit=1',
    )
    expect([own.code, own.headers['x-kubernetes-pf-flowschema-uid']]).to.deep.equal([200, uid])
    const others = await sendAs(token, '/api/v1/namespaces?limit=1')
    expect(others.headers['x-kubernetes-pf-flowschema-uid']).to.be.a('string').and.not.equal(uid)
  })
})
