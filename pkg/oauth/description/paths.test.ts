import { expect } from 'chai'
import { methods } from '../../openapi/operation.ts'
import { listenerProfilePrefix, profileKinds } from '../../telemetry/profile.ts'
import { startApp, type TestApp } from '../fixtures.ts'
import { oauthPaths } from './paths.ts'

type Layer = {
  readonly route?: { readonly path: string | readonly string[] }
  readonly handle?: { readonly stack?: readonly Layer[] }
}

/** Returns every path with a route in express, in OpenAPI syntax, without a slash at the end. */
function walk(stack: readonly Layer[]): readonly string[] {
  const paths = stack.flatMap(({ route, handle }) => {
    const own = route === undefined ? [] : [route.path].flat()
    return [...own, ...walk(handle?.stack ?? [])]
  })
  return [...new Set(paths.map(path => path.replaceAll(/:(\w+)/g, '{$1}').replace(/(?<=.)\/$/, '')))]
}

// Endpoints that kapis-apiserver does not forward to clients.
const inside = ['/livez', '/healthz', '/metrics', ...profileKinds.map(kind => listenerProfilePrefix + kind)]
const described = oauthPaths('kapis.io')

describe('oauthPaths', () => {
  let app: TestApp
  let served: readonly string[]
  before(async () => {
    app = await startApp()
    served = walk(app.app.router.stack as readonly Layer[]).filter(path => !inside.includes(path))
  })
  after(() => app.close())

  it('describes every route of kapis-oauth', () => {
    expect(served.length).to.be.greaterThan(20)
    for (const path of served)
      expect(
        described,
        `${path} is served and not described: add a row for it, with each of its methods, to the file of its like in pkg/oauth/description/`,
      ).to.have.property(path)
  })

  it('describes no other route', () => {
    for (const path of Object.keys(described))
      expect(
        served,
        `${path} is described in pkg/oauth/description/ and not served: take its row away`,
      ).to.include(path)
  })

  it('describes the methods of each path', async () => {
    for (const [path, row] of Object.entries(described)) {
      const { code, headers } = await app.send('PROPFIND', path.replaceAll(/\{\w+\}/g, 'x'))
      expect(code, path).to.equal(405)
      const taken = String(headers.allow)
        .split(', ')
        .filter(method => method !== 'HEAD')
      const rows = methods.filter(method => row[method] !== undefined).map(method => method.toUpperCase())
      expect(rows, `${path} takes ${taken}: say so in its row in pkg/oauth/description/`).to.have.members(
        taken,
      )
    }
  })
})
