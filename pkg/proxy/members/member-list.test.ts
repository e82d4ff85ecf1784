import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect } from 'chai'
import { Status } from '../../apierrors/status.ts'
import { jane } from '../../apirequest/fixtures.ts'
import { type FakeKubeApiserver, respondJson, startFakeKubeApiserver } from '../../kubeclient/fixtures.ts'
import { createMemberList } from './member-list.ts'

function trickle(_req: IncomingMessage, res: ServerResponse): void {
  res.writeHead(200)
  const timer = setInterval(() => res.write(' '), 5)
  res.once('close', () => clearInterval(timer))
}

describe('createMemberList', () => {
  let kapis: FakeKubeApiserver
  let respond: (req: IncomingMessage, res: ServerResponse) => unknown
  let received: IncomingMessage['headers'] = {}
  const text = '{"items":[{"metadata":{"name":"a"},"n":1.0}],"totalItems":1}'

  before(async () => {
    kapis = await startFakeKubeApiserver((req, res) => {
      received = req.headers
      return respond(req, res)
    })
  })
  after(() => kapis.close())

  const fails =
    (code: number, message: string, reason = 'Forbidden') =>
    (_req: unknown, res: ServerResponse) =>
      respondJson(res, code, { kind: 'Status', status: 'Failure', code, reason, message })

  async function read(changes: { username?: string; via?: string; signal?: AbortSignal } = {}) {
    const { username = 'jane', via, signal = AbortSignal.timeout(5_000) } = changes
    const req = { headers: via === undefined ? {} : { via } } as IncomingMessage
    const identity = { ...jane, username, groups: ['dev', 'system:masters'] }
    const target = { rawPath: '/kapis/resources.kapis.io/v1alpha3/pods', rawQuery: 'limit=2' }
    const codes: number[] = []
    const limits = { maxBytes: 1_000, signal, onResponse: (code: number) => void codes.push(code) }
    try {
      const page = await createMemberList('east', kapis.client)(
        { req, id: 'id-1', identity, ...target },
        limits,
      )
      return { ...page, codes }
    } catch (error) {
      return error instanceof Status ? [error.code, error.message] : error
    }
  }

  it('reads a list as the caller, as it was sent', async () => {
    respond = (_req, res) => res.writeHead(200).end(text)
    expect(await read()).to.deep.equal({
      list: JSON.parse(text),
      sources: ['{"metadata":{"name":"a"},"n":1.0}'],
      codes: [200],
    })
    expect(kapis.requests.at(-1)).to.equal('GET /kapis/resources.kapis.io/v1alpha3/pods?limit=2')
    expect(received).to.include({
      'impersonate-user': 'jane',
      'impersonate-group': 'dev',
      'audit-id': 'id-1',
      via: '1.1 kapis-clusters',
    })
  })

  it('reports why a list is missing', async () => {
    const cases: readonly (readonly [typeof respond, readonly [number, string]])[] = [
      [
        fails(403, 'pods is forbidden: User "jane" cannot list'),
        [403, 'pods is forbidden: User "jane" cannot list'],
      ],
      [
        fails(403, 'users "jane" is forbidden: User "k" cannot impersonate resource "users"'),
        [503, 'the account of the kubeconfig of the cluster "east" is not allowed to impersonate the caller'],
      ],
      [
        fails(401, 'Unauthorized', 'Unauthorized'),
        [503, 'the account of the kubeconfig of the cluster "east" is not allowed to impersonate the caller'],
      ],
      [fails(429, 'too many requests', 'TooManyRequests'), [429, 'too many requests']],
      [
        (_req, res) => res.writeHead(404).end('secret-of-a-server'),
        [502, 'the Kapis of the cluster "east" responded with 404'],
      ],
      [
        (_req, res) => res.writeHead(200).end('<html>'),
        [503, 'the Kapis of the cluster "east" returned a list that is not valid'],
      ],
      [
        (_req, res) => res.writeHead(200).end(' '.repeat(1_001)),
        [503, 'the response is larger than 1000 bytes'],
      ],
      [
        (_req, res) => res.writeHead(302, { location: 'https://evil.example.org/secret' }).end(),
        [502, 'the Kapis of the cluster "east" redirects, which is not supported'],
      ],
      [
        (_req, res) => res.writeHead(200).end(text.slice(0, 20)),
        [503, 'the Kapis of the cluster "east" returned a list that is not valid'],
      ],
      ...[{}, { 'content-length': String(text.length) }].map((headers): (typeof cases)[number] => [
        (req, res) => res.writeHead(200, headers).write(text.slice(0, 20), () => req.socket.destroy()),
        [502, 'the Kapis of the cluster "east" closed the connection before the response was complete'],
      ]),
      [
        req => req.socket.destroy(),
        [502, 'the Kapis of the cluster "east" closed the connection before the response was complete'],
      ],
    ]
    for (const [serve, expected] of cases) {
      respond = serve
      expect(await read()).to.deep.equal(expected)
    }
    // The second sends a part of the list now and then, which no idle timeout ends.
    for (const slow of [() => undefined, trickle]) {
      respond = slow
      expect(await read({ signal: AbortSignal.timeout(50) })).to.deep.equal([
        504,
        'the Kapis of the cluster "east" did not respond in time',
      ])
    }
  })

  it('sends the name of a caller in Unicode, and none that a header cannot carry', async () => {
    respond = (_req, res) => res.writeHead(200).end(text)
    await read({ username: 'jörg 日本 🐳' })
    expect(Buffer.from(String(received['impersonate-user']), 'latin1').toString('utf8')).to.equal(
      'jörg 日本 🐳',
    )
    const before = kapis.requests.length
    for (const username of ['jane\r\nImpersonate-Group: admins', 'jane\0', ' jane', 'jane\t', '\ud800', ''])
      expect(((await read({ username })) as unknown[])[0], JSON.stringify(username)).to.equal(403)
    expect(kapis.requests).to.have.length(before)
  })

  it('sends nothing for callers and clusters for which requests are denied', async () => {
    respond = (_req, res) => res.writeHead(200).end(text)
    const before = kapis.requests.length
    expect(await read({ via: '1.1 kapis-clusters' })).to.deep.equal([
      508,
      'the cluster "east" is reached by way of a cluster that Kapis serves itself',
    ])
    expect(await read({ username: 'system:serviceaccount:a:b' })).to.deep.equal([
      403,
      'user "system:serviceaccount:a:b" exists in this cluster only, and cannot be impersonated in a member cluster',
    ])
    const without = createMemberList('east', { problem: 'it has no kubesphereAPIEndpoint' })
    const target = { rawPath: '/kapis', rawQuery: '', id: 'i', identity: jane }
    const error = await without(
      { req: { headers: {} } as IncomingMessage, ...target },
      { maxBytes: 1, signal: AbortSignal.timeout(1_000) },
    ).catch((failed: unknown) => failed)
    expect(error).to.include({
      code: 503,
      message: 'the cluster "east" does not serve /kapis: it has no kubesphereAPIEndpoint',
    })
    expect(kapis.requests).to.have.length(before)
  })
})
