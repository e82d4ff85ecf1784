import { expect } from 'chai'
import { toCurl } from './curl.ts'
import { content, json, type Operation, query, requiredQuery, segment } from './operation.ts'
import { object, text } from './schema.ts'

const kubeOperation: Operation = { summary: '', responses: {}, security: ['bearer', 'clientCertificate'] }

describe('toCurl', () => {
  it('fills in required parameters as placeholders in capitals', () => {
    const parameters = [segment('user', ''), requiredQuery('image', ''), query('page', '')]
    expect(toCurl('get', '/users/{user}/x', { ...kubeOperation, parameters })).to.equal(
      'curl --cacert "$KAPIS_CA" -H "Authorization: Bearer $TOKEN" "$KAPIS_URL/users/USER/x?image=IMAGE"',
    )
  })

  it('sends a body from a file, with its content type', () => {
    expect(toCurl('put', '/a', { ...kubeOperation, body: { content: json(text()) } })).to.equal(
      `curl --cacert "$KAPIS_CA" -X PUT -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' --data-binary @FILE "$KAPIS_URL/a"`,
    )
  })

  it('sends a form field by field, with client authentication', () => {
    const form = content(
      ['application/x-www-form-urlencoded'],
      object({ token: text(), hint: text() }, ['hint']),
    )
    const operation: Operation = { ...kubeOperation, security: ['client', 'none'], body: { content: form } }
    expect(toCurl('post', '/oauth/revoke', operation)).to.equal(
      'curl --cacert "$KAPIS_CA" -u "$KAPIS_CLIENT_ID:$KAPIS_CLIENT_SECRET" -d token=TOKEN "$KAPIS_URL/oauth/revoke"',
    )
  })
})
