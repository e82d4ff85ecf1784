import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect } from 'chai'
import { unavailable } from '../apierrors/status.ts'
import { type HttpResponse, jane, startLoopback, toExchange } from '../apirequest/fixtures.ts'
import type { AuthenticatedExchange } from '../apirequest/request-context.ts'
import { createMemoryStore } from '../logs/fixtures.ts'
import { createPolicies } from '../recording/policy.ts'
import { createRecorder } from '../recording/recorder.ts'
import { createLogger } from '../telemetry/logger.ts'
import { createSessionRecording } from './session-recording.ts'
import type { Taps } from './upgrade.ts'

const exec = '/api/v1/namespaces/shop/pods/web-0/exec?command=sh&command=-c&stdout=true'
const handshake = ['Upgrade', 'websocket', 'Sec-WebSocket-Protocol', 'v5.channel.k8s.io']

describe('createSessionRecording', () => {
  let store = createMemoryStore()
  let problem: string | undefined
  let taps: Taps | undefined
  beforeEach(() => {
    store = createMemoryStore()
    problem = undefined
    taps = undefined
  })

  const create = (namespaces: readonly string[] = ['shop']) =>
    createSessionRecording({
      policies: createPolicies(() => [
        { name: 'shop', namespaces: [...namespaces], users: [], groups: ['dev'] },
      ]),
      recorder: createRecorder({ store: { ...store, check: async () => problem }, maxBytes: () => 1_000 }),
      clientAddress: () => '10.1.2.3',
      logger: createLogger({ program: 'test', level: 'error' }),
      failed: () => undefined,
    })

  /**
   * Handles a request with a handler that sets the Upgrade header, as after a connection upgrade.
   */
  async function handle(
    path: string,
    use: (exchange: AuthenticatedExchange) => unknown,
    { method = 'GET', upgrade = 'websocket', isUpgrade = true } = {},
  ): Promise<HttpResponse> {
    const loopback = await startLoopback(async (req: IncomingMessage, res: ServerResponse) => {
      req.headers.upgrade = upgrade
      const exchange = { ...toExchange(req, res), ...(isUpgrade ? { upgrade: Buffer.alloc(0) } : {}) }
      try {
        const result = await use(exchange)
        res.end(String(result))
      } catch (error) {
        res.writeHead(Object(error).code ?? 500).end(Object(error).message)
      }
    })
    try {
      return await loopback.get(path, { method })
    } finally {
      await loopback.close()
    }
  }

  async function begin(path: string, { upgrade = 'websocket', lines = handshake } = {}) {
    return handle(
      path,
      async exchange => {
        taps = await (await create().begin(exchange))?.(lines)
        return taps === undefined ? 'not recorded' : taps.greeting.toString('latin1')
      },
      { upgrade },
    )
  }

  it('records the user and the command, and notifies the user', async () => {
    const { code, text } = await begin(`${exec}&stderr=true&container=web`)
    expect([code, text]).to.deep.equal([
      200,
      '\x82\x2b\x02This session is recorded (policy shop).\n'.replace('\x2b', '\x29'),
    ])
    const [start] = store.records
    const { id, startTimestamp, auditID, ...rest } = JSON.parse(start?.log ?? '')
    expect(rest).to.deep.equal({
      ...{ namespace: 'shop', pod: 'web-0', container: 'web', subresource: 'exec', command: ['sh', '-c'] },
      ...{ tty: false, user: jane.username, groups: jane.groups, impersonator: '', sourceIP: '10.1.2.3' },
      policy: 'shop',
    })
    expect(id).to.match(/^[0-9a-f-]{36}$/)
  })

  it('records the output of the container, and the size of the terminal', async () => {
    await begin(`${exec}&tty=true`)
    taps?.fromServer.write(Buffer.from([0x82, 3, 1, 0x68, 0x69, 0x82, 2, 3, 0x7b]))
    const size = Buffer.from('\x04{"Width":100,"Height":30}')
    taps?.fromClient.write(Buffer.concat([Buffer.from([0x82, 0x80 | size.length, 0, 0, 0, 0]), size]))
    if (taps !== undefined) await once(taps.fromServer, 'readable')
    expect(taps?.fromServer.read()?.length).to.equal(9)
    taps?.closed()
    while (store.records.length < 3) await new Promise(resolve => setTimeout(resolve, 10))
    const events = store.records[1]?.log.split('\n').map(line => JSON.parse(line).slice(1))
    expect(events).to.deep.equal([
      ['o', 'hi'],
      ['r', '100x30'],
    ])
  })

  const unrecordable: readonly (readonly [
    side: 'fromClient' | 'fromServer',
    frame: readonly number[],
    reason: string,
  ])[] = [
    [
      'fromClient',
      [0x82, 0x01, 0x00],
      'cannot record what the client sent: Invalid WebSocket frame: MASK must be set',
    ],
    [
      'fromClient',
      [0x82, 0xff, 0, 0, 0, 0, 0, 0x20, 0, 0],
      'cannot record what the client sent: Max payload size exceeded',
    ],
    [
      'fromServer',
      [0x83, 0x00],
      'cannot record what the server sent: Invalid WebSocket frame: invalid opcode 3',
    ],
  ]
  for (const [side, frame, reason] of unrecordable)
    it(`stores why it ends a session: ${reason}`, async () => {
      await begin(exec)
      taps?.[side].write(Buffer.from(frame))
      await new Promise(resolve => taps?.[side].once('close', resolve))
      taps?.closed()
      while (store.records.length < 2) await new Promise(resolve => setTimeout(resolve, 10))
      expect(JSON.parse(store.records[1]?.log ?? '')).to.include({ outputBytes: 0, reason })
    })

  for (const [what, path] of [
    ['another namespace', '/api/v1/namespaces/bank/pods/web-0/exec?command=sh'],
    ['port-forward', '/api/v1/namespaces/shop/pods/web-0/portforward'],
    ['another group', '/apis/example.org/v1/namespaces/shop/pods/web-0/exec'],
  ] as const) {
    it(`does not record ${what}`, async () => expect((await begin(path)).text).to.equal('not recorded'))
  }

  for (const upgrade of ['SPDY/3.1', 'websocket, SPDY/3.1', '']) {
    it(`rejects a session that upgrades to ${JSON.stringify(upgrade)}`, async () => {
      const { code, text } = await begin(exec, { upgrade })
      expect([code, text]).to.deep.equal([
        403,
        'the session is recorded (policy "shop"), which requires a client that uses WebSocket, such as kubectl 1.31 or later',
      ])
    })
  }

  it('rejects a session that cannot be stored', async () => {
    problem = 'the disk is full'
    expect((await begin(exec)).code).to.equal(unavailable('').code)
    expect(store.records).to.deep.equal([])
  })

  for (const lines of [
    ['Sec-WebSocket-Protocol', 'v9.channel.k8s.io'],
    [...handshake, 'Sec-WebSocket-Extensions', 'permessage-deflate'],
  ]) {
    it(`ends a session with ${lines.slice(-2).join(': ')}`, async () => {
      expect((await begin(exec, { lines })).code).to.equal(502)
      expect(store.records).to.deep.equal([])
    })
  }

  describe('assertNotBypassed', () => {
    const node = '/api/v1/nodes/worker-1/proxy'
    for (const [what, path, given, code] of [
      [
        'a run request to the kubelet',
        `${node}/run/shop/web-0/web?cmd=id`,
        { method: 'POST', isUpgrade: false },
        403,
      ],
      ['an exec request to the kubelet', `${node}/exec/shop/web-0/web`, {}, 403],
      ['a metrics request to the kubelet', `${node}/metrics`, { isUpgrade: false }, 200],
      ['an exec request to a pod', exec, {}, 200],
      ['an exec request to a pod of a member cluster', `/clusters/m${exec}`, {}, 403],
      [
        'a terminal request to a member cluster',
        '/clusters/m/kapis/terminal.kapis.io/v1alpha2/namespaces/a/pods/p/exec',
        {},
        403,
      ],
      [
        'another terminal request to the member’s platform API',
        '/clusters/m/kapis/terminal.kapis.io/v1alpha2/users/jane/kubectl',
        {},
        403,
      ],
      ['a read of the member’s platform API', '/clusters/m/kapis/version', { isUpgrade: false }, 200],
      [
        'a port-forward request to a member cluster',
        '/clusters/m/api/v1/namespaces/shop/pods/web-0/portforward',
        {},
        200,
      ],
      [
        'a write request to a Service',
        '/api/v1/namespaces/shop/services/web/proxy/x',
        { method: 'POST', isUpgrade: false },
        200,
      ],
    ] as const) {
      it(`responds to ${what} with ${code}`, async () => {
        const use = (exchange: AuthenticatedExchange) => create(['elsewhere']).assertNotBypassed(exchange)
        expect((await handle(path, use, given)).code).to.equal(code)
      })
    }
  })
})
