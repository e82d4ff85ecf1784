import { expect } from 'chai'
import type { Loopback } from '../apirequest/fixtures.ts'
import { section, serveApi } from './fixtures.ts'
import { createDocsPage } from './page.ts'

describe('createDocsPage', () => {
  const docsPage = createDocsPage({ sections: [section], product: 'A & B', version: '1.0.0' })
  let server: Loopback
  let text: string
  before(async () => {
    server = await serveApi(docsPage)
    text = (await server.get('/docs')).text
  })
  after(() => server.close())

  it('escapes every inserted text', () => {
    expect(text).to.include('<h2 id="kapis-things-example-io-v1">Things &amp; &lt;others&gt;</h2>')
    expect(text).to.include('<dd>&quot;a&quot; &amp; &lt;b&gt;</dd>')
    expect(text).to.include('<title>API reference – A &amp; B</title>')
  })

  it('allows only its own scripts and styles, and no frames', async () => {
    const { headers } = await server.get('/docs')
    expect(headers['content-security-policy']).to.equal(
      "default-src 'none'; style-src 'self'; script-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    )
    expect(headers['x-content-type-options']).to.equal('nosniff')
  })

  it('serves files whose URLs change with their content', async () => {
    const paths = [...text.matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)].map(([, path = '']) => path)
    expect(paths).to.have.length(2)
    for (const path of paths) {
      expect(path).to.match(/^\/docs\/(style\.css|search\.js)\?v=[0-9A-F]{12}$/)
      expect(docsPage.handles(path.split('?')[0] ?? '')).to.equal(true)
      const { code, headers } = await server.get(path)
      expect(code).to.equal(200)
      expect(headers['content-type']).to.match(/^text\/(css|javascript); charset=utf-8$/)
      expect(headers['cache-control']).to.equal('public, max-age=31536000, immutable')
    }
  })

  it('serves no other files, and only GET and HEAD', async () => {
    for (const path of ['/docs/', '/docs/x', '/docs/page.ts', '/docsx'])
      expect(docsPage.handles(path), path).to.equal(false)
    expect((await server.get('/docs', { method: 'POST' })).code).to.equal(405)
  })
})
