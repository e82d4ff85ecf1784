import { expect } from 'chai'
import { toRemoteHeaders } from './remote-headers.ts'

describe('toRemoteHeaders', () => {
  it('tells all of an identity, every group and value on a line of its own', () => {
    const identity = {
      ...{ username: 'Jörg', uid: 'u-1', groups: ['b', 'system:authenticated'] },
      extra: { 'acme.com/Scopes': ['x', 'y'] },
    }
    expect(toRemoteHeaders(identity)).to.deep.equal([
      ...['X-Remote-User', Buffer.from('Jörg').toString('latin1'), 'X-Remote-Uid', 'u-1'],
      ...['X-Remote-Group', 'b', 'X-Remote-Group', 'system:authenticated'],
      ...['X-Remote-Extra-acme.com%2fscopes', 'x', 'X-Remote-Extra-acme.com%2fscopes', 'y'],
    ])
  })

  it('has no empty lines', () => {
    expect(toRemoteHeaders({ username: 'a', uid: '', groups: [], extra: {} })).to.deep.equal([
      'X-Remote-User',
      'a',
    ])
  })
})
