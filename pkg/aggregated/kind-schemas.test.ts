import { expect } from 'chai'
import { createKindSchemas } from './kind-schemas.ts'

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
  let asked: string[] = []
  const read = async (path: string) => {
    asked.push(path)
    return path === root ? indexOf('A') : documentOf('A widget.')
  }
  beforeEach(() => {
    asked = []
  })

  it('reads the index and the documents of its kinds once for all that ask at a time', async () => {
    const schemas = createKindSchemas({ kinds, read })
    expect(asked).to.deep.equal([])
    const [one, other] = await Promise.all([schemas(), schemas()])
    expect(one).to.equal(other)
    expect(await schemas()).to.equal(one)
    expect(asked).to.deep.equal([root, `${root}/${key}?hash=A`])
    expect(one).to.deep.equal({ Widget: { description: 'A widget.' } })
  })

  it('goes without a group that is not served', async () => {
    const schemas = createKindSchemas({ kinds, read: async () => ({ paths: {} }) })
    expect(await schemas()).to.deep.equal({})
  })

  it('is 503 while nothing is known, and asks again', async () => {
    let isUp = false
    const schemas = createKindSchemas({
      kinds,
      read(path) {
        if (isUp) return read(path)
        return Promise.reject(new Error('secret'))
      },
    })
    const error = await schemas().then(
      () => undefined,
      reason => reason,
    )
    expect(error).to.include({ code: 503 })
    expect(String(error.message)).to.not.include('secret')
    isUp = true
    expect(await schemas()).to.have.property('Widget')
  })

  it('reads a document again when its hash is another, and keeps what it knows when nothing answers', async () => {
    let hash = 'A'
    const schemas = createKindSchemas({
      kinds,
      freshMs: 0,
      async read(path) {
        asked.push(path)
        if (hash === '') throw new Error('down')
        return path === root ? indexOf(hash) : documentOf(hash)
      },
    })
    const first = await schemas()
    expect(await schemas()).to.equal(first)
    expect(asked).to.deep.equal([root, `${root}/${key}?hash=A`, root])
    hash = 'B'
    const second = await schemas()
    expect(second).to.deep.equal({ Widget: { description: 'B' } })
    hash = ''
    expect(await schemas()).to.equal(second)
  })
})
