import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import { expect } from 'chai'
import { accessToken, kubectl, kubectlOutput, sendToKapis } from '../e2e/cluster.ts'
import { eventually, groupDomain, logIn, platformPath, sendAs } from '../e2e/http.ts'
import { setting } from '../e2e/run.ts'
import { apiserverUsage } from './process.ts'

const isLong = process.env.FAULTS === 'long'
const idle = isLong ? 5_000 : 300
const watchedPath = `/apis/resources.${groupDomain}/v1alpha3/nodes?watch=true`

// Clients that are slow, silent or numerous. Others must not be affected, and no data may
// accumulate.
describe('misbehaving clients', function () {
  this.timeout(isLong ? 300_000 : 90_000)
  const open: TLSSocket[] = []
  let token = ''

  before(async () => {
    token = await accessToken()
  })
  afterEach(() => {
    for (const socket of open.splice(0)) socket.destroy()
  })

  it('with heads that never end do not block others', async () => {
    const slow = await Promise.all(
      Array.from({ length: 100 }, () => dial('GET / HTTP/1.1\r\nHost: a\r\nX-A: ')),
    )
    const drip = setInterval(() => {
      for (const socket of slow) if (socket.writable) socket.write('x')
    }, 500)
    try {
      await served()
      // The timeout is 30 s by default (limits.headersSeconds), and is checked every ten seconds.
      if (!isLong) return
      await eventually(async () => expect(slow.filter(isOpen)).to.have.length(0), 45_000, 500)
    } finally {
      clearInterval(drip)
    }
  })

  it('with forms that arrive slowly do not block logins', async () => {
    const head =
      'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n'
    const slow = await Promise.all(
      Array.from({ length: 300 }, () => dial(`${head}Content-Length: 1000\r\n\r\ngrant_type=pass`)),
    )
    const { code, body } = await logIn(setting('KAPIS_USER'), setting('KAPIS_PASSWORD'))
    expect(code, body).to.equal(200)
    if (!isLong) return
    await eventually(async () => expect(slow.filter(isOpen)).to.have.length(0), 45_000, 500)
  })

  it(`with ${idle} idle connections do not block others, and memory is freed`, async () => {
    const before = apiserverUsage()
    for (let i = 0; i < idle; i += 50) {
      await Promise.all(Array.from({ length: 50 }, () => dial('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n')))
    }
    const during = apiserverUsage()
    await served()
    note(`${idle} idle connections: ${during.megabytes - before.megabytes} MB, ${during.handles} handles`)
    expect((during.megabytes - before.megabytes) / idle, 'MB for each').to.be.below(0.3)
    for (const socket of open.splice(0)) socket.destroy()
    await eventually(
      async () => expect(apiserverUsage().handles).to.be.below(before.handles + 30),
      20_000,
      250,
    )
  })

  it('with an unread watch use bounded memory, and others receive every event', async () => {
    const name = (await kubectlOutput('get', 'nodes', '-o', 'jsonpath={.items[0].metadata.name}')).trim()
    const head = `GET ${watchedPath} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`
    const deaf = await Promise.all(Array.from({ length: 10 }, () => dial(head)))
    for (const socket of deaf) socket.pause()
    const listening = await dial(head)
    let received = ''
    listening.on('data', chunk => {
      received += chunk.toString('latin1')
    })
    const before = apiserverUsage()
    const pad = 'x'.repeat(100_000)
    const rounds = isLong ? 200 : 25
    for (let i = 0; i < rounds; i++) {
      const body = JSON.stringify({ metadata: { annotations: { pad: `${i}-${pad}` } } })
      const headers = { 'content-type': 'application/merge-patch+json' }
      const patched = await sendAs(token, `/api/v1/nodes/${name}`, { method: 'PATCH', headers, body })
      expect(patched.code, patched.body.slice(0, 300)).to.equal(200)
    }
    await eventually(async () => expect(received).to.include(`"pad":"${rounds - 1}-`), 30_000, 250)
    await kubectl('annotate', 'node', name, 'pad-')
    const after = apiserverUsage()
    note(`10 watches that are not read, ${rounds} events of 100 KB: ${after.megabytes - before.megabytes} MB`)
    // All watchers share one encoded event, and none buffers more than the limit of a watcher.
    expect(after.megabytes - before.megabytes).to.be.below(250)
    await served()
  })

  async function served(): Promise<void> {
    expect((await sendToKapis('/readyz')).code).to.equal(200)
    expect((await sendAs(token, platformPath)).code).to.equal(200)
    expect((await sendAs(token, '/api/v1/namespaces/default')).code).to.equal(200)
  }

  async function dial(bytes: string): Promise<TLSSocket> {
    const { hostname, port } = new URL(setting('KAPIS_URL'))
    const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>()
    const socket = connect({ host: hostname, port: Number(port), ca: readFileSync(setting('KAPIS_CA')) })
    socket.once('secureConnect', () => {
      socket.write(bytes)
      resolve(socket)
    })
    socket.once('error', reject)
    open.push(socket)
    const made = await promise
    made.on('error', () => undefined)
    // Responses are read, since the end of a connection is only noticed when reading.
    made.resume()
    await sleep(0)
    return made
  }
})

function isOpen(socket: TLSSocket): boolean {
  return !socket.destroyed && !socket.readableEnded
}

function note(line: string): void {
  if (isLong || process.env.E2E_FIGURES) console.log(`      ${line}`)
}
