import { expect } from 'chai'
import { toExchange } from './fixtures.ts'
import { isLongRunningInKube, mayBeLongRunning, mayStream } from './long-running.ts'

function requestOf(line: string) {
  const [method = '', url = ''] = line.split(' ')
  return toExchange(Object.create({ method, url }), Object.create(null))
}

describe('mayBeLongRunning', () => {
  const long = [
    'GET /api/v1/pods?watch=true',
    'GET /api/v1/watch/pods',
    'GET /api/v1/namespaces/a/pods/b/exec?command=sh',
    'POST /api/v1/namespaces/a/pods/b/exec?command=sh',
    'GET /api/v1/namespaces/a/pods/b/attach',
    'GET /api/v1/namespaces/a/pods/b/portforward',
    'PUT /api/v1/namespaces/a/services/b/proxy/some/path',
    'GET /api/v1/namespaces/a/pods/b/log?follow=true',
    'GET /api/v1/namespaces/a/pods/b/log?follow',
    'GET /kapi/v1/namespaces/a/pods/b/log?follow=1',
    'GET /kapis/tenant.kapis.io/v1alpha2/logs?follow=true',
    'GET /kapis/example.org/v1/things?watch=1',
  ]
  for (const line of long)
    it(`accepts ${line}`, () => expect(mayBeLongRunning(requestOf(line))).to.equal(true))

  // The path alone does not make a request long-running: such requests must have a deadline and
  // count for max-in-flight.
  const short = [
    'GET /api/v1/pods',
    'GET /api/v1/pods?watch=false',
    'GET /api/v1/pods?follow=1',
    'GET /api/v1/namespaces/a/pods/b/log',
    'GET /api/v1/namespaces/a/pods/b/log?follow=false',
    'POST /api/v1/namespaces/a/pods/b/log?follow=true',
    'GET /api/v1/namespaces/a/pods/exec',
    'GET /api/v1/proxy/nodes/n',
    'POST /api/v1/watch/namespaces/default/pods',
    'DELETE /api/v1/watch/namespaces/default/pods',
    'GET /version?watch=true',
    'GET /exec',
    'GET /kapis/tenant.kapis.io/v1alpha2/logs',
    'GET /kapis/tenant.kapis.io/v1alpha2/logs?follow=false',
    'POST /kapis/iam.kapis.io/v1alpha2/users?follow=1',
    'PATCH /kapis/iam.kapis.io/v1alpha2/users/x?watch=true',
    'POST /kapis/terminal.example.org/v1alpha2/watch/namespaces/default/things',
    'DELETE /kapis/terminal.example.org/v1alpha2/proxy/namespaces/default/things',
    'POST /kapis/example.org/v1/things/x/proxy',
    'GET /kapis/example.org/v1/things/x/exec',
  ]
  for (const line of short)
    it(`rejects ${line}`, () => expect(mayBeLongRunning(requestOf(line))).to.equal(false))
})

describe('mayStream', () => {
  it('accepts exports and queries in LogsQL', () => {
    for (const [path, expected] of [
      ['tenant.kapis.io/v1alpha2/logs?operation=export', true],
      ['tenant.kapis.io/v1alpha2/auditing/events?operation=export', true],
      ['logging.kapis.io/v1alpha2/select/logsql/query', true],
      ['tenant.kapis.io/v1alpha2/logs', false],
      ['tenant.kapis.io/v1alpha2/logs?operation=query', false],
    ] as const)
      expect(mayStream(requestOf(`GET /kapis/${path}`)), path).to.equal(expected)
  })
})

describe('isLongRunningInKube', () => {
  it('decides as kube-apiserver does, under any path prefix', () => {
    for (const prefix of ['api', 'kapi'])
      for (const [rest, isLongRunning] of [
        ['v1/namespaces/a/pods/b/log?follow=true', true],
        ['v1/namespaces/a/services/b/proxy/', true],
        ['v1/namespaces/a/pods/b/eviction?follow=true', false],
      ] as const)
        expect(isLongRunningInKube(requestOf(`GET /${prefix}/${rest}`)), `${prefix} ${rest}`).to.equal(
          isLongRunning,
        )
  })
})
