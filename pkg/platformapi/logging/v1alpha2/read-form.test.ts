import { request } from 'node:http'
import { expect } from 'chai'
import { renderKube } from '../../../apierrors/render-kube.ts'
import {
  type HttpResponse,
  type Loopback,
  readResponse,
  startLoopback,
  toExchange,
} from '../../../apirequest/fixtures.ts'
import { sendJson } from '../../../httpserver/response/respond.ts'
import { readForm } from './read-form.ts'

describe('readForm', () => {
  let loopback: Loopback | undefined
  before(async () => {
    loopback = await startLoopback(async (req, res) => {
      try {
        sendJson(res, 200, [...(await readForm(toExchange(req, res)))])
      } catch (error) {
        renderKube(res, error)
      }
    })
  })
  after(() => loopback?.close())

  function send(
    method: string,
    body?: string,
    type = 'application/x-www-form-urlencoded',
  ): Promise<HttpResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>()
    const options = {
      ...{ host: '127.0.0.1', port: loopback?.port, path: '/x?limit=1', method, agent: false },
      headers: body === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(body) },
    }
    request(options, res => readResponse(res).then(resolve, reject))
      .on('error', reject)
      .end(body)
    return promise
  }

  it('combines the parameters of the URL and of a form', async () => {
    expect((await send('GET')).text).to.equal('[["limit","1"]]\n')
    expect(JSON.parse((await send('POST', 'query=a+%7C+b')).text)).to.deep.equal([
      ['limit', '1'],
      ['query', 'a | b'],
    ])
  })

  it('reads only the URL without a body, with any content type', async () => {
    expect((await send('POST', '', 'application/json')).text).to.equal('[["limit","1"]]\n')
  })

  it('rejects other methods, other types and long forms', async () => {
    const put = await send('PUT', 'query=a')
    expect([put.code, put.headers.allow]).to.deep.equal([405, 'GET, HEAD, POST'])
    expect((await send('POST', '{}', 'application/json')).code).to.equal(415)
    expect((await send('POST', `query=${'a'.repeat(300_000)}`)).code).to.equal(413)
  })
})
