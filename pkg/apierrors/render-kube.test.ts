import { createServer, get } from 'node:http'
import { expect } from 'chai'
import { renderKube, toKubeStatus } from './render-kube.ts'
import { methodNotAllowed, Status } from './status.ts'

describe('toKubeStatus', () => {
  it("writes the fields in kube-apiserver's order", () => {
    const status = new Status(409, 'Conflict', 'm', { details: { name: 'n' } })
    expect(Object.keys(toKubeStatus(status))).to.deep.equal([
      'kind',
      'apiVersion',
      'metadata',
      'status',
      'message',
      'reason',
      'details',
      'code',
    ])
  })

  it('omits empty details', () => {
    expect(toKubeStatus(new Status(409, 'Conflict', 'm'))).to.not.have.property('details')
  })
})

describe('renderKube', () => {
  type WrittenResponse = { code: number; headers: Readonly<Record<string, unknown>>; body: string }

  async function responseTo(error: unknown, options: { method?: string; begun?: boolean } = {}) {
    const server = createServer((_req, res) => {
      if (options.begun) res.write('half an ans')
      renderKube(res, error)
    })
    const listening = Promise.withResolvers<void>()
    server.listen(0, '127.0.0.1', listening.resolve)
    await listening.promise
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const answered = Promise.withResolvers<WrittenResponse>()
    get({ port, host: '127.0.0.1', agent: false, method: options.method }, async res => {
      let body = ''
      try {
        for await (const chunk of res) body += chunk
        answered.resolve({ code: res.statusCode ?? 0, headers: res.headers, body })
      } catch (broken) {
        answered.reject(broken)
      }
    }).on('error', answered.reject)
    try {
      return await answered.promise
    } finally {
      server.close()
    }
  }

  it('writes code, headers and the whole body', async () => {
    const { code, headers, body } = await responseTo(methodNotAllowed(['GET']))
    expect(code).to.equal(405)
    expect(headers).to.include({
      allow: 'GET',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'cache-control': 'no-cache, private',
      'x-content-type-options': 'nosniff',
    })
    expect(body).to.equal(
      '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",' +
        '"message":"the server does not allow this method on the requested resource",' +
        '"reason":"MethodNotAllowed","details":{},"code":405}\n',
    )
  })

  it('does not reveal the message of an internal error', async () => {
    const { code, body } = await responseTo(new Error('connect ECONNREFUSED 10.1.2.3:6443'))
    expect(code).to.equal(500)
    expect(JSON.parse(body)).to.deep.equal({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Internal error occurred',
      reason: 'InternalError',
      code: 500,
    })
  })

  it('sends no body in response to HEAD', async () => {
    const { code, body } = await responseTo(methodNotAllowed(['GET']), { method: 'HEAD' })
    expect({ code, body }).to.deep.equal({ code: 405, body: '' })
  })

  it('truncates the connection after a response has started, so that it does not look complete', async () => {
    const failure = await responseTo(new Error('late'), { begun: true }).then(
      () => 'a complete response',
      (error: NodeJS.ErrnoException) => error.code,
    )
    expect(failure).to.equal('ECONNRESET')
  })

  it('counts non-ASCII messages in bytes', async () => {
    const { body } = await responseTo(new Status(400, 'BadRequest', 'größer als 証明書'))
    expect(JSON.parse(body)).to.include({ message: 'größer als 証明書' })
  })
})
