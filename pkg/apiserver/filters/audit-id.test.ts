import type { ServerResponse } from 'node:http'
import { expect } from 'chai'
import { renderKube } from '../../apierrors/render-kube.ts'
import { unauthorized } from '../../apierrors/status.ts'
import { type Loopback, startLoopback } from '../../apirequest/fixtures.ts'
import { withAuditId } from './audit-id.ts'

describe('withAuditId', () => {
  let loopback: Loopback | undefined
  afterEach(() => loopback?.close())

  const heads: readonly (readonly [what: string, respond: (res: ServerResponse) => unknown])[] = [
    ['a list of header lines', res => res.writeHead(200, ['X-Two', 'a', 'X-Two', 'b']).end()],
    [
      'a list of header lines with a reason phrase',
      res => res.writeHead(200, 'Fine', ['X-Two', 'a', 'X-Two', 'b']).end(),
    ],
    ['a header object', res => res.writeHead(200, { 'x-two': ['a', 'b'] }).end()],
    ['a header set before', res => res.setHeader('x-two', ['a', 'b']).end()],
    ['only a body', res => res.appendHeader('x-two', 'a').appendHeader('x-two', 'b').end('c')],
  ]
  for (const [what, respond] of heads) {
    for (const sent of [{}, { 'x-request-id': 'mine' }]) {
      it(`sets the IDs of a response with ${what} once, next to ${JSON.stringify(sent)}`, async () => {
        loopback = await startLoopback((req, res) => {
          withAuditId(req, res, 'id-1')
          return respond(res)
        })
        const { headersDistinct } = await loopback.open('/', { headers: sent })
        expect(headersDistinct['audit-id']).to.deep.equal(['id-1'])
        expect(headersDistinct['x-two']).to.deep.equal(['a', 'b'])
        expect(headersDistinct['x-request-id']).to.deep.equal('x-request-id' in sent ? ['mine'] : undefined)
      })
    }
  }

  it('sets the IDs immediately for a handshake, which may be written without a response object', () => {
    const set: string[] = []
    const res: ServerResponse = Object.assign(Object.create(null), {
      setHeader: (name: string, value: string) => set.push(name, value),
    })
    withAuditId({ headers: { upgrade: 'websocket' } }, res, 'id-1')
    expect(set).to.deep.equal(['audit-id', 'id-1'])
  })

  it('sets the IDs of an error response', async () => {
    loopback = await startLoopback((req, res) => {
      withAuditId(req, res, 'id-1')
      renderKube(res, unauthorized())
    })
    expect((await loopback.get('/')).headers).to.include({ 'audit-id': 'id-1' })
  })

  it('keeps the request ID of an upstream', async () => {
    loopback = await startLoopback((req, res) => {
      withAuditId(req, res, 'id-1')
      res.writeHead(200, ['X-Request-Id', 'theirs']).end()
    })
    const { headersDistinct } = await loopback.open('/', { headers: { 'x-request-id': 'mine' } })
    expect(headersDistinct['x-request-id']).to.deep.equal(['theirs'])
  })

  it('does not return an ID that cannot be sent unchanged', async () => {
    loopback = await startLoopback((req, res) => {
      withAuditId(req, res, 'id-1')
      res.end()
    })
    const { headers } = await loopback.get('/', { headers: { 'x-request-id': 'a b' } })
    expect(headers).to.include({ 'audit-id': 'id-1' })
    expect(headers).to.not.have.property('x-request-id')
  })
})
