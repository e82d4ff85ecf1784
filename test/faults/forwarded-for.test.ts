import { expect } from 'chai'
import { accessToken, type HttpResponse, kubectl, sendToKapis, uniqueName } from '../e2e/cluster.ts'
import { eventually, groupDomain, sendAs } from '../e2e/http.ts'
import { createUser, credentials, parseResponse, removeUser } from '../e2e/oauth.ts'
import { type Replica, startReplica } from './replica.ts'

const maxTries = 3
const password = 'Correct horse 1'
const wrong = [400, { error: 'invalid_grant', error_description: 'incorrect password' }]
const locked = [429, { error: 'invalid_grant', error_description: 'auth rate limit exceeded' }]

// Each address is used only once, since failed logins from an address count for minutes.
let given = 0
const addressIn = (network: string) => {
  given++
  return `${network}.${given >> 8}.${given & 255}`
}
const caller = () => addressIn('198.18')
const proxyAddress = () => addressIn('127.77')
const strangerAddress = () => addressIn('127.88')

/** X-Forwarded-For with trusted proxies and without. */
describe('the source address of a login', function () {
  this.timeout(120_000)
  const username = uniqueName('forwarded')
  let behind: Replica
  let bare: Replica
  let admin: string

  before(async () => {
    await createUser({ username, password })
    admin = await accessToken()
    behind = await startReplica({
      hasOwnListener: true,
      listen: { trustedProxies: ['127.77.0.0/16', '198.51.100.7'] },
      config: { authentication: { authenticateRateLimiterMaxTriesPerAddress: maxTries } },
    })
    bare = await startReplica({ oauth: { socket: behind.socket } })
  })
  after(async () => {
    await bare?.stop()
    await behind?.stop()
    await removeUser(username)
    await kubectl('delete', 'loginrecords', '-l', `iam.${groupDomain}/user-ref=${username}`)
  })

  type From = { readonly at?: Replica; readonly localAddress: string; readonly says?: Record<string, string> }
  function logIn(name: string, secret: string, { at = behind, localAddress, says = {} }: From) {
    const form = { grant_type: 'password', ...credentials, username: name, password: secret }
    return sendToKapis(`${at.url}/oauth/token`, {
      method: 'POST',
      headers: { ...says, 'content-type': 'application/x-www-form-urlencoded' },
      body: String(new URLSearchParams(form)),
      localAddress,
    })
  }
  const forwarded = (...hops: readonly string[]) => ({ 'x-forwarded-for': hops.join(', ') })

  /** Logs in with a unique user agent, and reads its login record. */
  async function recordedSource(from: From): Promise<unknown> {
    const userAgent = uniqueName('browser')
    const response = await logIn(username, password, {
      ...from,
      says: { ...from.says, 'user-agent': userAgent },
    })
    expect(response.code, response.body).to.equal(200)
    const path = `/kapis/iam.${groupDomain}/v1alpha2/users/${username}/loginrecords?limit=100`
    let spec: Readonly<Record<string, unknown>> = {}
    await eventually(async () => {
      const { items } = JSON.parse((await sendAs(admin, path)).body)
      spec = items.find((item: { spec: { userAgent: string } }) => item.spec.userAgent === userAgent)?.spec
      expect(spec).to.be.an('object')
    }, 20_000)
    const { sourceIP, ...rest } = spec
    expect(rest).to.deep.equal({
      type: 'Password',
      provider: '',
      userAgent,
      success: true,
      reason: 'authenticated successfully',
    })
    return sourceIP
  }

  it('is that from the trusted proxy, and not what the client sent to the proxy', async () => {
    // Each attempt uses another client address: of several logins of a user from the same address
    // within a second, only one is recorded.
    const ways: readonly ((client: string) => Record<string, string>)[] = [
      client => forwarded(client),
      client => forwarded('6.6.6.6', '6.6.6.7', client),
      // Both proxies are trusted: the client is the first untrusted address from the right.
      client => forwarded('6.6.6.6', client, '198.51.100.7'),
    ]
    const clients = ['203.0.113.1', '203.0.113.2', '2001:db8::5']
    for (const [i, says] of ways.entries()) {
      const client = clients[i] ?? ''
      expect(await recordedSource({ localAddress: proxyAddress(), says: says(client) })).to.equal(client)
    }
  })

  it('is that of the proxy if it sends none, or an invalid one', async () => {
    for (const says of [{}, forwarded('nonsense'), forwarded('6.6.6.6', 'unknown')]) {
      const proxy = proxyAddress()
      expect(await recordedSource({ localAddress: proxy, says })).to.equal(proxy)
    }
  })

  const claims = { 'x-client-ip': '6.6.6.6', 'x-real-ip': '6.6.6.6', forwarded: 'for=6.6.6.6' }
  it('is never taken from other headers, of any client', async () => {
    const [proxy, stranger, client] = [proxyAddress(), strangerAddress(), caller()]
    expect(await recordedSource({ localAddress: proxy, says: claims })).to.equal(proxy)
    const both = { ...claims, ...forwarded(client) }
    expect(await recordedSource({ localAddress: proxy, says: both })).to.equal(client)
    expect(await recordedSource({ localAddress: stranger, says: claims })).to.equal(stranger)
  })

  it('is that of the connection, except for trusted proxies', async () => {
    const says = { ...claims, ...forwarded(caller()) }
    const [stranger, proxy] = [strangerAddress(), proxyAddress()]
    expect(await recordedSource({ localAddress: stranger, says })).to.equal(stranger)
    expect(await recordedSource({ at: bare, localAddress: proxy, says })).to.equal(proxy)
  })

  async function guess(from: From, times: number): Promise<void> {
    for (let i = 0; i < times; i++) {
      const response = await logIn(uniqueName('nonexistent'), 'guess', from)
      expect(parseResponse(response), `try ${i + 1}`).to.deep.equal(wrong)
    }
  }
  function expectLocked(response: HttpResponse): void {
    expect(parseResponse(response)).to.deep.equal(locked)
    expect(Number(response.headers['retry-after'])).to.be.within(1, 600)
  }

  it('is locked for one client behind the proxy, with any headers, and no other', async () => {
    const [proxy, guesser, neighbour] = [proxyAddress(), caller(), caller()]
    let tries = 0
    const from = () => ({ localAddress: proxy, says: forwarded(`6.6.6.${tries++}`, guesser) })
    for (let i = 0; i < maxTries; i++) await guess(from(), 1)
    expectLocked(await logIn(username, password, from()))
    const other = { localAddress: proxy, says: forwarded(guesser, neighbour) }
    expect(await logIn(username, password, other)).to.include({ code: 200 })
  })

  it('is locked for a client with any asserted addresses', async () => {
    for (const at of [behind, bare]) {
      const [stranger, other] = [strangerAddress(), strangerAddress()]
      const from = () => ({ at, localAddress: stranger, says: { ...claims, ...forwarded(caller()) } })
      for (let i = 0; i < maxTries; i++) await guess(from(), 1)
      expectLocked(await logIn(username, password, from()))
      // A caller cannot lock another address by claiming it in a header.
      const says = forwarded(other)
      expect(await logIn(username, password, { at, localAddress: other, says })).to.include({ code: 200 })
    }
  })
})
