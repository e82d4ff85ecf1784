import { expect } from 'chai'
import { Status } from '../../apierrors/status.ts'
import { type Loopback, startLoopback } from '../../apirequest/fixtures.ts'
import { renderError } from './render-error.ts'

describe('renderError', () => {
  let loopback: Loopback
  before(async () => {
    loopback = await startLoopback((_req, res) => {
      renderError(res, new Status(403, 'Forbidden', 'no: "a"\u2028b', { details: {} }))
    })
  })
  after(() => loopback.close())

  const json =
    '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no: \\"a\\"\u2028b","reason":"Forbidden","details":{},"code":403}\n'
  const yaml = [
    'kind: Status',
    'apiVersion: v1',
    'metadata: {}',
    'status: Failure',
    String.raw`message: "no: \"a\"\u2028b"`,
    'reason: Forbidden',
    'details: {}',
    'code: 403',
    '',
  ].join('\n')
  const cases: readonly [accept: string | undefined, type: string, body: string][] = [
    [undefined, 'application/json', json],
    ['', 'application/json', json],
    ['*/*', 'application/json', json],
    ['application/json', 'application/json', json],
    ['application/yaml', 'application/yaml', yaml],
    ['Application/YAML ; q=0.3', 'application/yaml', yaml],
    ['application/yaml, application/json', 'application/yaml', yaml],
    ['application/json, application/yaml', 'application/json', json],
    ['application/yaml;q=0.5, application/json', 'application/json', json],
    ['application/yaml;q=0', 'application/json', json],
    ['application/vnd.kubernetes.protobuf, application/yaml', 'application/yaml', yaml],
    ['application/json;as=Table;g=meta.k8s.io;v=v1, application/yaml', 'application/yaml', yaml],
    ['application/yaml;as=Table;g=meta.k8s.io;v=v1', 'application/json', json],
    ['text/yaml', 'application/json', json],
    ['application/json;stream=watch', 'application/json', json],
  ]
  for (const [accept, type, body] of cases) {
    it(`writes ${type} for ${accept === undefined ? 'no Accept header' : `"${accept}"`}`, async () => {
      const response = await loopback.get('/', accept === undefined ? {} : { headers: { accept } })
      expect([response.code, response.headers['content-type'], response.text]).to.deep.equal([
        403,
        type,
        body,
      ])
      expect(response.headers['content-length']).to.equal(String(response.body.length))
    })
  }
})
