import { expect } from 'chai'
import { unavailable } from '../apierrors/status.ts'
import type { Loopback } from '../apirequest/fixtures.ts'
import { toOpenApi } from '../openapi/document.ts'
import { createApiDocuments, isOwnDocument } from './documents.ts'
import { section, serveApi } from './fixtures.ts'

const path = `/openapi/v3/${section.key}`

describe('createApiDocuments', () => {
  const foreign = { serverRelativeURL: '/openapi/v3/api/v1?hash=1' }
  let index: unknown = { paths: { 'api/v1': foreign } }
  const documents = createApiDocuments({
    sections: [section],
    version: '1.0.0',
    async readIndex() {
      if (index === undefined) throw unavailable('kube-apiserver is not responding')
      return index
    },
  })
  let server: Loopback
  before(async () => {
    server = await serveApi(documents)
  })
  after(() => server.close())

  it('adds the documents of Kapis to the index of kube-apiserver', async () => {
    const { code, text } = await server.get('/openapi/v3')
    expect(code).to.equal(200)
    const { paths } = JSON.parse(text)
    expect(paths['api/v1']).to.deep.equal(foreign)
    const { serverRelativeURL } = paths[section.key]
    expect(serverRelativeURL).to.match(new RegExp(`^${path}\\?hash=[0-9A-F]{128}$`))
    const kept = await server.get(serverRelativeURL)
    expect(JSON.parse(kept.text)).to.deep.equal(toOpenApi(section, '1.0.0'))
    expect(kept.headers['cache-control']).to.equal('public, immutable')
  })

  it('redirects a missing or outdated hash to the current one', async () => {
    for (const query of ['', '?hash=OLD']) {
      const { code, headers } = await server.get(path + query)
      expect([code, headers['cache-control']]).to.deep.equal([200, 'no-cache, private'])
    }
  })

  it('returns 304 to a client that has the current document', async () => {
    const { headers } = await server.get(path)
    const again = await server.get(path, { headers: { 'if-none-match': headers.etag ?? '' } })
    expect([again.code, again.text]).to.deep.equal([304, ''])
  })

  it('reports that kube-apiserver is not responding, and never returns a partial index', async () => {
    index = undefined
    expect((await server.get('/openapi/v3')).code).to.equal(503)
    expect((await server.get(path)).code).to.equal(200)
  })

  it('accepts only GET and HEAD', async () => {
    const { code, headers } = await server.get(path, { method: 'PUT' })
    expect([code, headers.allow]).to.deep.equal([405, 'GET, HEAD'])
  })
})

describe('isOwnDocument', () => {
  for (const own of ['/openapi/v3', '/openapi/v3/oauth', '/openapi/v3/kapis', '/openapi/v3/kapis/a/v1'])
    it(`accepts ${own}`, () => expect(isOwnDocument(own)).to.equal(true))
  for (const other of [
    '/openapi/v2',
    '/openapi/v3/api/v1',
    '/openapi/v3/apis/kapis/v1',
    '/openapi/v3/kapisx',
    '/openapi',
  ])
    it(`rejects ${other}`, () => expect(isOwnDocument(other)).to.equal(false))
})
