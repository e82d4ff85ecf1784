import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { expect } from 'chai'
import { closeServer, type Loopback, portOf, startLoopback } from '../request/fixtures.ts'
import { renderKube } from '../status/render-kube.ts'
import { createRefusalByBody } from './kube.ts'
import { forwardUpgrade } from './upgrade.ts'

describe('forwardUpgrade: an upgrade that is answered with 403', () => {
  let answer: (req: IncomingMessage, res: ServerResponse) => unknown = () => undefined
  let front: Loopback
  const server = createServer((req, res) => void answer(req, res))

  before(async () => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    front = await startLoopback((req, res) => {
      const target = {
        options: { host: '127.0.0.1', port: portOf(server), agent: false },
        ...{ isSecure: false, path: '/exec', headers: ['Host', 'a'], upstream: 'it' },
        refusalByBody: createRefusalByBody({ refused: () => undefined }),
      }
      forwardUpgrade(target, { req, res }).catch(error => renderKube(res, error))
    })
  })
  after(async () => {
    await front.close()
    await closeServer(server)
  })

  it('about Kapis itself is 503, and tells nobody of its account', async () => {
    const message =
      'users is forbidden: User \\"system:serviceaccount:kapis-system:kapis\\" cannot impersonate resource'
    answer = (_req, res) => res.writeHead(403).end(`{"kind":"Status","message":"${message}","code":403}`)
    const { code, headers, text } = await front.get('/')
    expect([code, headers['retry-after']]).to.deep.equal([503, '1'])
    expect(JSON.parse(text).message).to.equal('the orchestrator does not let Kapis act for its callers')
    expect(text).to.not.include('kapis-system')
  })

  for (const [what, body] of [
    [
      'of the caller',
      '{"message":"pods is forbidden: User \\"jane\\" cannot create resource \\"pods/exec\\""}',
    ],
    ['without a body', ''],
    ['that is longer than any refusal', 'x'.repeat(300_000)],
  ] as const) {
    it(`${what} is handed on as it is`, async () => {
      answer = (_req, res) => res.writeHead(403, { 'x-own': 'kept' }).end(body)
      const { code, headers, text } = await front.get('/')
      expect([code, headers['x-own'], text === body]).to.deep.equal([403, 'kept', true])
    })
  }

  it('that breaks off is 502', async () => {
    answer = (_req, res) => {
      res.writeHead(403, { 'content-length': 1_000 })
      res.write('{"kind":', () => res.destroy())
    }
    const { code } = await front.get('/')
    expect(code).to.equal(502)
  })
})
