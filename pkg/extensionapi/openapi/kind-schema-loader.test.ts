import { setImmediate as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { rejectedStatus } from '../../apierrors/fixtures.ts'
import { createKindSchemas } from './kind-schema-loader.ts'

const kinds = [{ kind: 'Widget', source: { group: 'example.org', version: 'v1' } }]
const is = [{ group: 'example.org', version: 'v1', kind: 'Widget' }]
const root = '/openapi/v3'
const key = 'apis/example.org/v1'

function indexOf(hash: string) {
  return { paths: { [key]: { serverRelativeURL: `${root}/${key}?hash=${hash}` }, 'api/v1': {} } }
}

function documentOf(description: string) {
  const widget = { description, 'x-kubernetes-group-version-kind': is }
  return { components: { schemas: { 'org.example.v1.Widget': widget } } }
}

describe('createKindSchemas', () => {
  let requests: string[] = []
  const read = async (path: string) => {
    requests.push(path)
    return path === root ? indexOf('A') : documentOf('A widget.')
  }
  beforeEach(() => {
    requests = []
  })

  it('reads the index and the documents of its kinds once for concurrent requests', async () => {
    const schemas = createKindSchemas({ kinds, read })
    expect(requests).to.deep.equal([])
    const [one, other] = await Promise.all([schemas(), schemas()])
    expect(one).to.equal(other)
    expect(await schemas()).to.equal(one)
    expect(requests).to.deep.equal([root, `${root}/${key}?hash=A`])
    expect(one).to.deep.equal({ Widget: { description: 'A widget.' } })
  })

  it('omits an API group that is not served', async () => {
    const schemas = createKindSchemas({ kinds, read: async () => ({ paths: {} }) })
    expect(await schemas()).to.deep.equal({})
  })

  it('throws 503 while nothing is loaded, and retries with the next request', async () => {
    let isUp = false
    const schemas = createKindSchemas({
      kinds,
      read(path) {
        if (isUp) return read(path)
        return Promise.reject(new Error('secret'))
      },
    })
    const error = await rejectedStatus(schemas())
    expect(error).to.include({ code: 503 })
    expect(String(error)).to.not.include('secret')
    isUp = true
    expect(await schemas()).to.have.property('Widget')
  })

  it('throws 503 after its time limit, and returns what is loaded afterwards', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const schemas = createKindSchemas({
      kinds,
      patienceMs: 5,
      async read(path) {
        await released
        return read(path)
      },
    })
    expect(await rejectedStatus(schemas())).to.include({ code: 503 })
    expect(await rejectedStatus(schemas())).to.include({ code: 503 })
    release()
    await pause()
    expect(await schemas()).to.have.property('Widget')
    expect(requests).to.deep.equal([root, `${root}/${key}?hash=A`])
  })

  it('returns what is loaded while kube-apiserver does not respond', async () => {
    let isLocked = false
    const schemas = createKindSchemas({
      kinds,
      freshMs: 0,
      read: path => (isLocked ? new Promise(() => undefined) : read(path)),
    })
    const first = await schemas()
    isLocked = true
    expect(await schemas()).to.equal(first)
    expect(await schemas()).to.equal(first)
  })

  it('reloads a document in the background when its hash changes, and keeps the old one when that fails', async () => {
    let hash = 'A'
    const schemas = createKindSchemas({
      kinds,
      freshMs: 0,
      async read(path) {
        requests.push(path)
        if (hash === '') throw new Error('down')
        return path === root ? indexOf(hash) : documentOf(hash)
      },
    })
    const first = await schemas()
    expect(await schemas()).to.equal(first)
    await pause()
    expect(requests).to.deep.equal([root, `${root}/${key}?hash=A`, root])
    hash = 'B'
    expect(await schemas()).to.equal(first)
    await pause()
    const second = await schemas()
    expect(second).to.deep.equal({ Widget: { description: 'B' } })
    await pause()
    hash = ''
    expect(await schemas()).to.equal(second)
    await pause()
    expect(await schemas()).to.equal(second)
  })
})
