import { readFileSync } from 'node:fs'
import { connect, type TLSSocket } from 'node:tls'
import { expect } from 'chai'
import { accessToken, askKapis, kubectl, makeNamespace, tokenOf, uniqueName } from './cluster.ts'
import { askAs, eventually, expectStatus, statusBody } from './http.ts'
import { speak } from './raw-front.ts'
import { setting } from './run.ts'

const namespace = uniqueName('limits')
// What the front takes on at once by default (docs/config.md): requests that change something.
const places = 200
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`

/** A request whose body never comes: it keeps its place until its deadline. */
function unfinished(path: string, token: string): string {
  const head = [`POST ${path} HTTP/1.1`, 'Host: front', `Authorization: Bearer ${token}`]
  return `${[...head, 'Content-Type: application/json', 'Content-Length: 1000'].join('\r\n')}\r\n\r\n{`
}

describe('what the front takes on', function () {
  this.timeout(90_000)
  let token: string
  const open = new Set<TLSSocket>()

  before(async () => {
    await makeNamespace(namespace, ['nobody'])
    token = await accessToken()
  })
  after(async () => {
    for (const socket of open) socket.destroy()
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  it('a request that is not over in time is 504, and its connection ends', async () => {
    const { codes, text } = await speak(unfinished(`${configMaps}?timeout=1s`, token))
    expect(codes, text).to.deep.equal([504])
    const [head = '', body = ''] = text.split('\r\n\r\n')
    expect(head).to.match(/^connection: close$/im)
    expect(head).to.match(/^audit-id: \S+$/im)
    const message = 'Timeout: request did not complete within the allotted timeout'
    expect(JSON.parse(body)).to.deep.equal(statusBody(504, 'Timeout', message, {}))
  })

  it('a change for which there is no place is 429, reads go on, and places come free', async () => {
    const { hostname, port } = new URL(setting('KAPIS_URL'))
    const to = { host: hostname, port: Number(port), ca: readFileSync(setting('KAPIS_CA')) }
    // The orchestrator has limits too: what it refuses after a while leaves its place, and another has to take that.
    const takePlaces = () => {
      while (open.size < places) {
        const socket = connect(to, () => socket.write(unfinished(configMaps, token)))
        socket.on('error', () => undefined).on('close', () => open.delete(socket))
        open.add(socket.resume())
      }
    }
    const nobody = await tokenOf(namespace, 'nobody')
    // It must not wait at the orchestrator behind those that never end.
    const change = () => askAs(nobody, `${configMaps}?timeout=1s`, { method: 'DELETE' })
    await eventually(async () => {
      takePlaces()
      const answer = await change()
      expectStatus(
        answer,
        statusBody(429, 'TooManyRequests', 'Too many requests, please try again later.', {
          retryAfterSeconds: 1,
        }),
      )
      expect(answer.headers['retry-after']).to.equal('1')
    }, 40_000)
    expect((await askAs(token, '/api/v1/namespaces/default')).code).to.equal(200)
    const metrics = await askKapis('/metrics', { headers: { authorization: `Bearer ${token}` } })
    expect(metrics.body).to.match(/kapis_requests_rejected_total\{kind="mutating"\} [1-9]/)

    for (const socket of open) socket.destroy()
    // Without a right, and no longer without a place.
    await eventually(async () => expect((await change()).code).to.equal(403), 20_000)
  })
})
