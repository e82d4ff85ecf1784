import { expect } from 'chai'
import { toKubeStatus } from './render-kube.ts'
import {
  badRequest,
  expired,
  invalid,
  methodNotAllowed,
  notAcceptable,
  notFound,
  type Status,
  tooLarge,
  tooLargeResourceVersion,
  tooManyRequests,
  toStatus,
  unauthorized,
  unavailable,
  unknownResource,
} from './status.ts'

const listOptions = { group: 'meta.k8s.io', kind: 'ListOptions' }

describe('Status', () => {
  const table: readonly [string, Status, Partial<Record<string, unknown>>][] = [
    ['badRequest', badRequest('page is odd'), { message: 'page is odd', reason: 'BadRequest', code: 400 }],
    ['unauthorized', unauthorized(), { message: 'Unauthorized', reason: 'Unauthorized', code: 401 }],
    [
      'notFound in a group',
      notFound({ group: 'resources.kapis.io', resource: 'nodes' }, 'x'),
      {
        message: 'nodes.resources.kapis.io "x" not found',
        reason: 'NotFound',
        details: { name: 'x', group: 'resources.kapis.io', kind: 'nodes' },
        code: 404,
      },
    ],
    [
      'notFound in the core group',
      notFound({ group: '', resource: 'nodes' }, 'x'),
      {
        message: 'nodes "x" not found',
        reason: 'NotFound',
        details: { name: 'x', kind: 'nodes' },
        code: 404,
      },
    ],
    [
      'unknownResource',
      unknownResource(),
      {
        message: 'the server could not find the requested resource',
        reason: 'NotFound',
        details: {},
        code: 404,
      },
    ],
    [
      'methodNotAllowed',
      methodNotAllowed(['GET', 'HEAD']),
      {
        message: 'the server does not allow this method on the requested resource',
        reason: 'MethodNotAllowed',
        details: {},
        code: 405,
      },
    ],
    [
      'notAcceptable',
      notAcceptable(['application/json', 'application/yaml']),
      {
        message: 'only the following media types are accepted: application/json, application/yaml',
        reason: 'NotAcceptable',
        code: 406,
      },
    ],
    ['expired', expired('too old'), { message: 'too old', reason: 'Expired', code: 410 }],
    [
      'expired with a continue token',
      expired('too old', 'abc'),
      { metadata: { continue: 'abc' }, message: 'too old', reason: 'Expired', code: 410 },
    ],
    [
      'tooLarge',
      tooLarge(3_145_728),
      {
        message: 'Request entity is too large: limit is 3145728',
        reason: 'RequestEntityTooLarge',
        code: 413,
      },
    ],
    [
      'invalid with one cause',
      invalid(listOptions, [{ reason: 'FieldValueForbidden', message: 'Forbidden: no', field: 'f' }]),
      {
        message: 'ListOptions.meta.k8s.io "" is invalid: f: Forbidden: no',
        reason: 'Invalid',
        details: {
          group: 'meta.k8s.io',
          kind: 'ListOptions',
          causes: [{ reason: 'FieldValueForbidden', message: 'Forbidden: no', field: 'f' }],
        },
        code: 422,
      },
    ],
    [
      'invalid with several causes',
      invalid(listOptions, [{ message: 'a', field: 'f' }, { message: 'b' }]),
      {
        message: 'ListOptions.meta.k8s.io "" is invalid: [f: a, b]',
        reason: 'Invalid',
        details: {
          group: 'meta.k8s.io',
          kind: 'ListOptions',
          causes: [{ message: 'a', field: 'f' }, { message: 'b' }],
        },
        code: 422,
      },
    ],
    [
      'tooManyRequests',
      tooManyRequests('slower', 7),
      { message: 'slower', reason: 'TooManyRequests', details: { retryAfterSeconds: 7 }, code: 429 },
    ],
    [
      'unavailable',
      unavailable('down', new Error('ECONNREFUSED 10.0.0.1')),
      { message: 'down', reason: 'ServiceUnavailable', details: { retryAfterSeconds: 1 }, code: 503 },
    ],
    [
      'tooLargeResourceVersion',
      tooLargeResourceVersion('9', '5'),
      {
        message: 'Timeout: Too large resource version: 9, current: 5',
        reason: 'Timeout',
        details: {
          causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
          retryAfterSeconds: 1,
        },
        code: 504,
      },
    ],
  ]
  const head = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' }
  for (const [name, status, body] of table) {
    it(`${name} has the text that kube-apiserver writes`, () => {
      expect(toKubeStatus(status)).to.deep.equal({ ...head, ...body })
    })
  }

  const headers: readonly [string, Status, Readonly<Record<string, string>>][] = [
    ['405 lists the allowed methods', methodNotAllowed(['GET', 'HEAD']), { allow: 'GET, HEAD' }],
    ['429 has Retry-After', tooManyRequests('slower', 7), { 'retry-after': '7' }],
    ['503 has Retry-After', unavailable('down', undefined, 3), { 'retry-after': '3' }],
    [
      '504 for a future resource version has Retry-After',
      tooLargeResourceVersion('9', '5'),
      { 'retry-after': '1' },
    ],
    ['400 has no headers', badRequest('x'), {}],
  ]
  for (const [name, status, expected] of headers) {
    it(`has the expected headers: ${name}`, () => {
      expect(status.headers).to.deep.equal(expected)
    })
  }

  it('exposes the cause to the log but not to the client', () => {
    const cause = new Error('password=hunter2')
    expect(unauthorized(cause).cause).to.equal(cause)
    expect(JSON.stringify(toKubeStatus(unavailable('down', cause)))).to.not.contain('hunter2')
  })
})

describe('toStatus', () => {
  it('returns a Status unchanged', () => {
    const status = badRequest('x')
    expect(toStatus(status)).to.equal(status)
  })

  for (const thrown of [new Error('select * from secrets'), 'text', undefined, null, { code: 404 }]) {
    it(`turns ${String(thrown)} into an opaque 500`, () => {
      const status = toStatus(thrown)
      expect(status).to.include({
        code: 500,
        reason: 'InternalError',
        message: 'Internal error occurred',
      })
      expect(status.cause).to.equal(thrown)
    })
  }
})
