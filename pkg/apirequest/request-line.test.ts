import { expect } from 'chai'
import { Status } from '../apierrors/status.ts'
import { createLineReader } from './request-line.ts'

describe('createLineReader', () => {
  const url = '/apis/resources.kapis.io/v1alpha3/nodes?labelSelector=a%3Db'

  it('parses path, query and request attributes', () => {
    const { info, rawPath, rawQuery, query } = createLineReader()('GET', url)
    expect(info).to.include({ verb: 'list', resource: 'nodes', group: 'resources.kapis.io' })
    expect([rawPath, rawQuery]).to.deep.equal(url.split('?'))
    expect(query.get('labelSelector')).to.equal('a=b')
  })

  it('returns the same for a cached line', () => {
    const read = createLineReader()
    expect(read('GET', url)).to.equal(read('GET', url))
  })

  it('never confuses two methods or URLs', () => {
    const read = createLineReader()
    read('GET', url)
    expect(read('DELETE', url).info.verb).to.equal('deletecollection')
    expect(read('GET', `${url}&watch=true`).info.verb).to.equal('watch')
    expect(read('GET', `${url}c`).query.get('labelSelector')).to.equal('a=bc')
    expect(read('GET', url).info.verb).to.equal('list')
  })

  it('rejects an invalid line again from its cache', () => {
    const read = createLineReader()
    for (let i = 0; i < 2; i++) {
      expect(() => read('GET', '/a//b'))
        .to.throw(Status)
        .with.property('code', 400)
    }
  })

  it('caches neither very long URLs nor an unlimited number of them', () => {
    const read = createLineReader()
    const long = `/x?${'a'.repeat(600)}`
    expect(read('GET', long)).to.not.equal(read('GET', long))
    const first = read('GET', '/first')
    for (let i = 0; i < 4_096; i++) read('GET', `/${i}`)
    expect(read('GET', '/first')).to.not.equal(first)
  })
})
