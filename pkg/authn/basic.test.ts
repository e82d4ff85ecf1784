import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect } from 'chai'
import { rejectionOf } from '../apierrors/fixtures.ts'
import { createBasicAuthenticator } from './basic.ts'

const agent = { name: 'agent', uid: 'u-1', groups: ['agents'], state: 'Active', credential: 'c1' }
const identity = { username: 'agent', uid: 'u-1', groups: ['agents'], extra: {} }

function request(authorization: string | undefined, url = '/ingest/_bulk'): IncomingMessage {
  const req = new IncomingMessage(new Socket())
  req.url = url
  if (authorization !== undefined) req.headers.authorization = authorization
  return req
}

function basic(text: string): string {
  return `Basic ${Buffer.from(text).toString('base64')}`
}

function create() {
  const checked: string[] = []
  const users = new Map([['agent', agent]])
  const { authenticate } = createBasicAuthenticator({
    accepts: path => path.startsWith('/ingest'),
    check: async (_, login, password) => {
      checked.push(`${login} ${password}`)
      return login === 'agent' && password === 'p:1' ? users.get('agent') : undefined
    },
    users,
  })
  return { authenticate: async (req: IncomingMessage) => authenticate(req), checked, users }
}

describe('createBasicAuthenticator', () => {
  it('knows a user by the password, which may have colons, and compares it once', async () => {
    const { authenticate, checked } = create()
    expect(await authenticate(request(basic('agent:p:1')))).to.deep.equal(identity)
    expect(await authenticate(request(basic('agent:p:1')))).to.deep.equal(identity)
    expect(checked).to.deep.equal(['agent p:1'])
  })

  it('compares again once the user has another password, and not when he is gone', async () => {
    const { authenticate, checked, users } = create()
    await authenticate(request(basic('agent:p:1')))
    users.set('agent', { ...agent, credential: 'c2' })
    await authenticate(request(basic('agent:p:1')))
    expect(checked).to.have.length(2)
    users.delete('agent')
    expect(await rejectionOf(authenticate(request(basic('agent:p:1'))))).to.have.property('code', 401)
  })

  it('refuses a disabled user, whose password may be right', async () => {
    const { authenticate, users } = create()
    await authenticate(request(basic('agent:p:1')))
    users.set('agent', { ...agent, state: 'Disabled' })
    expect(await rejectionOf(authenticate(request(basic('agent:p:1'))))).to.have.property('code', 401)
  })

  for (const header of [
    basic('agent:wrong'),
    basic('agent'),
    basic(':p'),
    'Basic',
    'Basic ',
    'basic %%%',
    basic(`a:${'x'.repeat(5000)}`),
  ]) {
    it(`refuses ${header.slice(0, 30)}`, async () => {
      const outcome = await create()
        .authenticate(request(header))
        .catch(error => error.code)
      expect(outcome).to.be.oneOf([401, null])
    })
  }

  it('leaves other schemes, other paths and requests without a credential alone', async () => {
    const { authenticate, checked } = create()
    expect(await authenticate(request(undefined))).to.equal(null)
    expect(await authenticate(request('Bearer x'))).to.equal(null)
    expect(await authenticate(request(basic('agent:p:1'), '/kapis/other'))).to.equal(null)
    expect(checked).to.deep.equal([])
  })
})
