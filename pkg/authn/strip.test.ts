import { expect } from 'chai'
import { Status } from '../status/status.ts'
import { received } from './fixtures.ts'
import { refuseImpersonation, stripCredentials } from './strip.ts'

describe('stripCredentials', () => {
  it('leaves no credential and no claimed identity in any view of the headers', async () => {
    const req = await received([
      'Authorization',
      'Bearer secret',
      'X-Remote-User',
      'admin',
      'x-remote-group',
      'g',
      'Accept',
      'a',
    ])
    expect(req.headersDistinct.authorization).to.deep.equal(['Bearer secret'])
    stripCredentials(req)
    const all = JSON.stringify([req.headers, req.headersDistinct, req.rawHeaders])
    expect(all).to.not.match(/secret|admin|x-remote/i)
    expect(req.headersDistinct.accept).to.deep.equal(['a'])
  })
})

describe('refuseImpersonation', () => {
  it('refuses what it would otherwise ignore', async () => {
    expect(() => refuseImpersonation(Object.assign(Object.create(null), { headers: {} }))).to.not.throw()
    const req = await received(['Impersonate-User', 'bob'])
    expect(() => refuseImpersonation(req))
      .to.throw(Status)
      .with.property('code', 403)
  })
})
