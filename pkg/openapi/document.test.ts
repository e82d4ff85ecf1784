import { expect } from 'chai'
import { divide, toOpenApi, toOperationId } from './document.ts'
import { type Operation, segment } from './operation.ts'

const operation: Operation = {
  summary: 'Does',
  responses: { 204: { description: 'Done.' } },
  security: ['bearer', 'none'],
}
const section = (key: string, also: readonly string[] = []) => ({ key, title: key, description: '', also })

describe('divide', () => {
  const sections = [section('kapis', ['/kapi']), section('kapis/iam/v1')]
  const row = { get: operation }

  it('assigns a path to the longest matching key', () => {
    const paths = {
      '/kapis/iam/v1/users': row,
      '/kapis/iam/v10': row,
      '/kapis/version': row,
      '/kapi/v1/{resource}': row,
    }
    expect(divide(sections, paths).map(({ paths: own }) => Object.keys(own))).to.deep.equal([
      ['/kapis/iam/v10', '/kapis/version', '/kapi/v1/{resource}'],
      ['/kapis/iam/v1/users'],
    ])
  })

  it('rejects a path without a section, and names where to add one', () =>
    expect(() => divide(sections, { '/elsewhere': row })).to.throw(
      '/elsewhere is not in any section: add one in pkg/apiserver/wiring/documents/api-description.ts',
    ))
})

describe('toOpenApi', () => {
  it('returns the document of a section, with the security schemes that it uses', () => {
    const paths = { '/a/{b}': { delete: { ...operation, parameters: [segment('b', 'The b.')] } } }
    const { components, ...document } = Object(toOpenApi({ ...section('a'), paths }, '1.0.0'))
    expect(document).to.deep.equal({
      openapi: '3.1.0',
      info: { title: 'a', description: '', version: '1.0.0' },
      paths: {
        '/a/{b}': {
          delete: {
            operationId: 'deleteAByB',
            summary: 'Does',
            parameters: [
              { name: 'b', in: 'path', required: true, description: 'The b.', schema: { type: 'string' } },
            ],
            responses: { 204: { description: 'Done.' } },
            security: [{ bearer: [] }, {}],
          },
        },
      },
    })
    expect(Object.keys(components.securitySchemes)).to.deep.equal(['bearer'])
  })
})

describe('toOperationId', () => {
  it('builds the ID from method and path', () => {
    expect(toOperationId('get', '/kapis/iam.kapis.io/v1/users/{user}')).to.equal(
      'getKapisIamKapisIoV1UsersByUser',
    )
    expect(toOperationId('post', '/oauth/.well-known/x')).to.equal('postOauthWellKnownX')
  })
})
