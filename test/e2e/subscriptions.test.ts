import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { expect } from 'chai'
import {
  accessToken,
  group,
  kubectl,
  kubectlOutput,
  makeNamespace,
  tokenOf,
  uniqueName,
  version,
} from './cluster.ts'
import { apply, eventually, sendAs } from './http.ts'
import { setting } from './run.ts'

const path = `/kapis/${group}/${version}/subscriptions`
const namespace = uniqueName('subs')
const other = uniqueName('subs-other')
const rbac = 'rbac.authorization.k8s.io'

type Event = {
  readonly id?: string
  readonly type: string
  readonly headers?: Readonly<Record<string, string>>
  readonly object?: {
    readonly metadata?: { readonly name: string }
    readonly code?: number
    readonly message?: string
    readonly keys?: readonly string[]
    readonly totalItems?: number
  }
}

/** The WebSocket client of Node.js, which has the API of browsers. */
describe('several subscriptions over one connection', function () {
  this.timeout(60_000)
  const open: WebSocket[] = []
  let token = ''

  async function connect(as: string) {
    const bearer = `base64url.bearer.authorization.k8s.io.${Buffer.from(as).toString('base64url')}`
    const url = `${setting('KAPIS_URL').replace('https:', 'wss:')}${path}`
    const socket = new WebSocket(url, [bearer, 'v1'])
    open.push(socket)
    const events: Event[] = []
    socket.addEventListener('message', ({ data }) => void events.push(JSON.parse(String(data))))
    await once(socket, 'open')
    const of = (id: string) => events.filter(event => event.id === id)
    return {
      socket,
      events,
      of,
      names: (id: string) =>
        of(id).map(({ type, object }) => `${type} ${object?.metadata?.name ?? ''}`.trim()),
      send: (message: object) => socket.send(JSON.stringify(message)),
    }
  }
  const subscribe = (id: string, watched: string) => ({ type: 'SUBSCRIBE', id, path: watched })
  const makeConfig = (name: string) =>
    apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels: { in: namespace } } })

  before(async () => {
    setDefaultCACertificates([...getCACertificates(), readFileSync(setting('KAPIS_CA'), 'utf8')])
    token = await accessToken()
    await makeNamespace(namespace, ['reader'])
    await makeNamespace(other, [])
  })
  after(async () => {
    for (const socket of open) socket.close()
    await kubectl('delete', 'namespace', namespace, other, '--wait=false')
  })

  it('receive their events with their ID, until they are cancelled', async () => {
    const { send, names, of, events } = await connect(token)
    const selector = `labelSelector=in%3D${namespace}`
    send(subscribe('configs', `/kapi/v1/configmaps?watch=true&${selector}`))
    send(
      subscribe('page', `/kapis/${group}/${version}/configmaps?watch=true&limit=1&sortBy=name&${selector}`),
    )
    send(
      subscribe(
        'extension',
        `/apis/${group}/${version}/namespaces?watch=true&fieldSelector=metadata.name%3D${namespace}`,
      ),
    )
    await eventually(async () => {
      expect(names('configs')).to.deep.equal(['SUBSCRIBED'])
      expect(of('page').map(({ type }) => type)).to.deep.equal(['SUBSCRIBED', 'PAGE'])
      expect(names('extension')).to.deep.equal(['SUBSCRIBED', `ADDED ${namespace}`])
    }, 10_000)
    await makeConfig('a')
    await makeConfig('b')
    await eventually(async () => {
      expect(names('configs')).to.deep.equal(['SUBSCRIBED', 'ADDED a', 'ADDED b'])
      const page = of('page').at(-1)?.object
      expect([page?.totalItems, page?.keys?.length]).to.deep.equal([2, 1])
    }, 10_000)
    send({ type: 'UNSUBSCRIBE', id: 'configs' })
    await eventually(async () => expect(names('configs').at(-1)).to.equal('ENDED'), 5_000)
    await kubectlOutput('delete', 'configmap', 'a', '-n', namespace)
    await eventually(async () => expect(of('page').at(-1)?.object?.totalItems).to.equal(1), 10_000)
    expect(names('configs').at(-1)).to.equal('ENDED')
    // The id can be used again.
    send(subscribe('configs', `/kapi/v1/configmaps?watch=true&${selector}`))
    await eventually(
      async () => expect(names('configs').slice(-2)).to.deep.equal(['SUBSCRIBED', 'ADDED b']),
      5_000,
    )
    expect(events.every(({ id }) => id !== undefined)).to.equal(true)
  })

  it('are each authorized as the caller', async () => {
    const reader = await tokenOf(namespace, 'reader')
    await apply({
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name: 'view', namespace },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace }],
    })
    await eventually(async () => {
      const { code } = await sendAs(reader, `/kapi/v1/namespaces/${namespace}/configmaps`)
      expect(code).to.equal(200)
    }, 10_000)
    const { send, of, names } = await connect(reader)
    send(
      subscribe(
        'mine',
        `/kapi/v1/namespaces/${namespace}/configmaps?watch=true&fieldSelector=metadata.name%3Db`,
      ),
    )
    send(subscribe('other', `/kapi/v1/namespaces/${other}/configmaps?watch=true`))
    send(subscribe('secrets', `/kapi/v1/namespaces/${namespace}/secrets?watch=true`))
    send(subscribe('narrowed', `/kapi/v1/configmaps?watch=true`))
    await eventually(async () => {
      expect(names('mine')).to.deep.equal(['SUBSCRIBED', 'ADDED b'])
      for (const id of ['other', 'secrets']) {
        expect(names(id)).to.deep.equal(['ERROR', 'ENDED'])
        expect(of(id)[0]?.object?.code).to.equal(403)
      }
      expect(of('narrowed')[0]?.headers).to.deep.equal({ 'kapis-narrowed-namespaces': '1' })
      expect(names('narrowed')).to.include('ADDED b')
    }, 10_000)
  })

  const refused: readonly (readonly [message: object | string, code: number, text: string])[] = [
    ['{', 400, 'invalid message: expected a JSON object'],
    [
      { type: 'SUBSCRIBE', id: '', path: '/' },
      400,
      'invalid id: expected 1 to 64 letters, digits or any of _ . : / -',
    ],
    [{ type: 'LIST', id: 'x', path: '/' }, 400, 'unknown type "LIST"; supported: SUBSCRIBE, UNSUBSCRIBE'],
    [
      subscribe('x', 'kapi/v1/pods'),
      400,
      'invalid path: expected a path with watch=true, such as /kapi/v1/pods?watch=true',
    ],
    [subscribe('x', '/kapi/v1/pods'), 400, 'invalid path: only watches can be subscribed to; add watch=true'],
    [subscribe('x', '/kapi/v1/pods?watch=true&watch=false'), 400, 'watch is given more than once'],
    [
      subscribe('x', '/api/v1/pods?watch=true'),
      400,
      'invalid path: expected a watch of a kind that Kapis caches, below /kapis, /kapi or /apis/resources.<group domain>',
    ],
    [
      subscribe('x', `${path}?watch=true&subscriptions=[{"id":"y","path":"/kapi/v1/pods?watch=true"}]`),
      400,
      'invalid path: subscriptions cannot be part of another request',
    ],
    [
      subscribe('x', `/kapis/${group}/${version}/counts?watch=true&kinds=pods`),
      400,
      'invalid path: counts cannot be part of another request',
    ],
    [subscribe('x', '/kapi/v1/nothing?watch=true'), 404, 'resource "nothing" is not served in /v1'],
    [subscribe('x', '/kapi/v1/pods?watch=true&resourceVersion=y'), 400, 'Invalid value: "y"'],
    [{ type: 'UNSUBSCRIBE', id: 'x' }, 400, 'unknown id "x": this connection has no such subscription'],
  ]
  for (const [message, code, text] of refused)
    it(`are rejected: ${JSON.stringify(message)}`, async () => {
      const { socket, events } = await connect(token)
      socket.send(typeof message === 'string' ? message : JSON.stringify(message))
      await eventually(async () => expect(events).to.have.length.above(0), 5_000)
      const [{ type, object } = { type: '', object: undefined }] = events
      expect([type, object?.code]).to.deep.equal(['ERROR', code])
      expect(object?.message).to.contain(text)
    })

  it('have unique IDs, and are limited to a hundred', async () => {
    const { send, of, events } = await connect(token)
    const watched = `/kapi/v1/namespaces/${other}/configmaps?watch=true`
    for (let i = 0; i < 50; i++) send(subscribe(`a${i}`, watched))
    await eventually(
      async () => expect(events.filter(({ type }) => type === 'SUBSCRIBED')).to.have.length(50),
      10_000,
    )
    for (let i = 50; i < 101; i++) send(subscribe(`a${i}`, watched))
    await eventually(
      async () => expect(of('a100').map(({ object }) => object?.code)).to.deep.equal([429]),
      10_000,
    )
    send(subscribe('a7', watched))
    await eventually(
      async () => expect(of('a7').at(-1)?.object?.message).to.equal('the id "a7" is in use'),
      5_000,
    )
  })

  it('are available as server-sent events', async () => {
    const subscriptions = [
      {
        id: 'namespace',
        path: `/kapi/v1/namespaces?watch=true&fieldSelector=metadata.name%3D${namespace}&timeoutSeconds=2`,
      },
    ]
    const query = new URLSearchParams({ subscriptions: JSON.stringify(subscriptions) })
    const controller = new AbortController()
    const response = await fetch(`${setting('KAPIS_URL')}${path}?${query}`, {
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
      signal: controller.signal,
    })
    expect(response.headers.get('content-type')).to.equal('text/event-stream')
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      if (text.includes('ENDED')) break
    }
    const lines = text.split('\n\n').filter(line => line !== '')
    const events: Event[] = lines.map(line => JSON.parse(line.slice('data: '.length)))
    expect(events.map(({ id, type }) => `${id} ${type}`)).to.deep.equal([
      'namespace SUBSCRIBED',
      'namespace ADDED',
      'namespace ENDED',
    ])
    controller.abort()
  })

  it('require a WebSocket or the parameter subscriptions', async () => {
    for (const [query, text] of [
      ['', 'subscriptions is required: a JSON array of {\\"id\\", \\"path\\"}; or open a WebSocket'],
      ['?subscriptions=x', 'invalid subscriptions: expected a JSON array of'],
      ['?subscriptions=[]', 'invalid subscriptions: expected a JSON array of'],
    ]) {
      const response = await sendAs(token, `${path}${query}`)
      expect(response.code).to.equal(400)
      expect(response.body).to.contain(text)
    }
  })
})
