import { expect } from 'chai'
import { createErrorByBody } from './kube-apiserver-proxy.ts'

describe('createErrorByBody', () => {
  const forbidden = 'users "jane" is forbidden: User "kapis" cannot impersonate resource "users"'
  const statuses: readonly (readonly [code: number, reason: string, message: string])[] = [
    [401, 'Unauthorized', 'Unauthorized'],
    [403, 'Forbidden', forbidden],
  ]
  for (const [code, reason, message] of statuses) {
    const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, message, reason, code }
    const yaml = `apiVersion: v1\ncode: ${code}\nkind: Status\nmessage: '${message.replace('cannot ', 'cannot\n  ')}'\nreason: ${reason}\n`
    const bodies: readonly (readonly [form: string, body: string])[] = [
      ['compact JSON', JSON.stringify(status)],
      ['indented JSON', JSON.stringify(status, null, 2)],
      ['YAML', yaml],
      ['protobuf', `k8s\0\n\f\n\u0002v1\u0012\u0006Status\u0012${message}`],
    ]
    for (const [form, body] of bodies) {
      it(`recognizes a ${code} about the credential of Kapis in ${form}`, () => {
        let rejected = 0
        const endpoint = { credentialRejected: () => void rejected++ }
        const error = createErrorByBody({ endpoint, account: 'kapis' })(code, Buffer.from(body))
        expect(error?.code).to.equal(503)
        expect(rejected).to.equal(code === 401 ? 1 : 0)
      })
    }
  }

  it('passes on a 401 of a program in a Pod', () => {
    const endpoint = { credentialRejected: () => expect.fail('the credential was not rejected') }
    const errorOf = createErrorByBody({ endpoint, account: 'kapis' })
    for (const body of ['Unauthorized', '{"message":"Unauthorized"}', '{"kind":"Error"}'])
      expect(errorOf(401, Buffer.from(body)), body).to.equal(undefined)
  })
})
