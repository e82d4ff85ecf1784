import { expect } from 'chai'
import { received } from './fixtures.ts'
import { stripCredentials } from './strip.ts'

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
