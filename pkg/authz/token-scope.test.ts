import { expect } from 'chai'
import { Status } from '../apierrors/status.ts'
import type { Identity } from '../apirequest/identity/identity.ts'
import { QueryParameters } from '../apirequest/query/query-parameters.ts'
import { parseRequestInfo } from '../apirequest/request-info.ts'
import { assertInScope, assertMayUpgrade } from './token-scope.ts'

const reader: Identity = { username: 'jane', uid: 'u', groups: [], extra: {}, isReadOnly: true }

function codeOf(method: string, path: string, identity: Identity): number {
  const [plain = '', query = ''] = path.split('?')
  try {
    assertInScope(parseRequestInfo(method, plain, new QueryParameters(query)), identity)
    return 200
  } catch (error) {
    if (error instanceof Status) return error.code
    throw error
  }
}

describe('assertInScope', () => {
  const pod = '/api/v1/namespaces/n/pods/p'
  const rows: readonly [string, string, number][] = [
    ['GET', '/api/v1/nodes', 200],
    ['HEAD', '/api/v1/nodes', 200],
    ['GET', '/api/v1/pods?watch=true', 200],
    ['GET', '/api/v1/watch/pods', 200],
    ['GET', `${pod}/log`, 200],
    ['GET', '/version', 200],
    ['HEAD', '/version', 200],
    ['GET', '/kapis/resources.kapis.io/v1alpha3/nodes', 200],
    ['POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', 200],
    ['POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', 200],
    ['POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', 403],
    ['POST', '/apis/example.org/v1/selfsubjectreviews', 403],
    ['POST', '/api/v1/namespaces', 403],
    ['PUT', pod, 403],
    ['PATCH', pod, 403],
    ['DELETE', pod, 403],
    ['DELETE', '/api/v1/namespaces/n/pods', 403],
    ['GET', `${pod}/exec?command=sh`, 403],
    ['POST', `${pod}/exec`, 403],
    ['GET', `${pod}/attach`, 403],
    ['GET', `${pod}/portforward`, 403],
    ['GET', `${pod}/proxy/`, 403],
    ['GET', `${pod}/proxy/../../../pods`, 403],
    ['GET', `${pod}/proxy/..%2F..%2Fpods`, 403],
    ['GET', '/api/v1/nodes/n/proxy//../pods', 403],
    ['GET', '/api/v1/nodes/n/proxy/run', 403],
    ['GET', '/api/v1/proxy/nodes/n', 403],
    ['GET', '/api/v1/secrets', 403],
    ['GET', '/api/v1/secrets?watch=true', 403],
    ['GET', '/api/v1/watch/namespaces/n/secrets', 403],
    ['GET', '/api/v1/namespaces/n/secrets/s', 403],
    ['HEAD', '/api/v1/namespaces/n/secrets/s', 403],
    ['GET', '/kapi/v1/namespaces/n/secrets', 403],
    ['GET', '/kapis/resources.kapis.io/v1alpha3/secrets', 403],
    ['GET', '/kapis/resources.kapis.io/v1alpha3/namespaces/n/secrets/s?watch=true', 403],
    ['GET', '/apis/resources.kapis.io/v1alpha3/namespaces/n/secrets', 403],
    ['POST', '/api/v1/namespaces/n/serviceaccounts/s/token', 403],
    ['GET', '/api/v1/namespaces/secrets/pods', 200],
    ['POST', '/version', 403],
    ['PUT', '/kapis/iam.kapis.io/v1alpha2/users/jane/password', 403],
  ]
  for (const [method, path, code] of rows) {
    it(`returns ${code} to ${method} ${path} with a read-only token`, () => {
      expect(codeOf(method, path, reader)).to.equal(code)
      expect(codeOf(method, path, { ...reader, isReadOnly: false })).to.equal(200)
    })
  }

  it('rejects impersonation with a read-only token', () => {
    const info = {
      ...parseRequestInfo('GET', '/api/v1/users/bob'),
      verb: 'impersonate',
    }
    let message = ''
    try {
      assertInScope(info, reader)
    } catch (error) {
      if (error instanceof Status) message = error.message
    }
    expect(message).to.equal(
      'users "bob" is forbidden: User "jane" cannot impersonate resource "users" in API group "" at the cluster scope: a read-only token cannot change anything',
    )
  })
})

describe('assertMayUpgrade', () => {
  const path = '/kapis/terminal.kapis.io/v1alpha2/users/admin/kubectl'
  const info = parseRequestInfo('GET', path)

  it('rejects upgrades with a read-only token, on any path', () => {
    expect(() => assertMayUpgrade(info, reader)).to.throw(
      Status,
      'users.terminal.kapis.io "admin" is forbidden: User "jane" cannot get resource "users/kubectl" in API group "terminal.kapis.io" at the cluster scope: a read-only token cannot open connections (exec, attach, port-forward or proxy)',
    )
  })

  it('accepts all other tokens', () => assertMayUpgrade(info, { ...reader, isReadOnly: false }))
})
