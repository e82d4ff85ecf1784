import { expect } from 'chai'
import { Status } from '../../../../apierrors/status.ts'
import { startLoopback, toExchange } from '../../../../apirequest/fixtures.ts'
import { binding as bindingOf, storeOf } from './fixtures.ts'
import { createBindingRemover } from './remove-from-bindings.ts'

const own = { 'app.kubernetes.io/managed-by': 'kapis' }

const binding = (name: string, users: readonly string[], labels: object, namespace?: string) =>
  bindingOf(
    name,
    'ClusterRole/view',
    users.map(user => `User/${user}`),
    { labels: { ...labels }, ...(namespace !== undefined && { namespace }) },
  )

const all = [
  binding('mine', ['ann'], own, 'a'),
  binding('shared', ['ann', 'joe'], own, 'b'),
  binding('hand', ['ann'], {}, 'a'),
  binding('other', ['joe'], own, 'a'),
  binding('cluster', ['ann'], own),
]
const stores = new Map([
  [
    'rolebindings',
    storeOf(
      'rolebindings',
      all.filter(({ metadata }) => metadata.namespace !== undefined),
    ),
  ],
  [
    'clusterrolebindings',
    storeOf(
      'clusterrolebindings',
      all.filter(({ metadata }) => metadata.namespace === undefined),
    ),
  ],
])

async function leave(user: string, { mayList = true, refused = '', isDown = false } = {}) {
  const calls: string[] = []
  const remove = createBindingRemover({
    scopes: {
      async latest(plural) {
        const store = stores.get(plural)
        if (isDown) throw new Status(503, 'ServiceUnavailable', 'not synced yet')
        if (store === undefined) throw new Error(plural)
        return store
      },
      mayList: async () => mayList,
    },
    async callAs(_exchange, { method = 'GET', path }) {
      const name = path.split('/').at(-1) ?? ''
      if (method !== 'GET') calls.push(`${method} ${name}`)
      if (name === refused) throw new Status(403, 'Forbidden', 'no')
      return { code: 200, text: JSON.stringify(all.find(({ metadata }) => metadata.name === name)) }
    },
  })
  const server = await startLoopback(async (req, res) => {
    await remove(toExchange(req, res), { kind: 'User', name: user })
    res.end()
  })
  try {
    const { headers } = await server.get(`/kapis/iam.kapis.io/v1alpha2/users/${user}?x=1`)
    return { calls, warning: headers.warning }
  } finally {
    await server.close()
  }
}

describe('createBindingRemover', () => {
  it('removes a user from the bindings of Kapis, and names other bindings', async () =>
    expect(await leave('ann')).to.deep.equal({
      calls: ['DELETE mine', 'PUT shared', 'DELETE cluster'],
      warning: '299 - "role bindings still name the user: a/hand"',
    }))

  it('names a binding that the caller may not write', async () =>
    expect(await leave('joe', { refused: 'other' })).to.deep.equal({
      calls: ['PUT shared'],
      warning: '299 - "role bindings still name the user: a/other"',
    }))

  it('returns nothing for a user without bindings', async () =>
    expect(await leave('kim')).to.deep.equal({ calls: [], warning: undefined }))

  it('names none to a caller who may not list bindings', async () =>
    expect(await leave('ann', { mayList: false })).to.deep.equal({
      calls: [],
      warning:
        '299 - "role bindings of the user remain: you may not list rolebindings and clusterrolebindings"',
    }))

  it('warns that bindings may remain if they cannot be read: the user is already deleted', async () =>
    expect(await leave('ann', { isDown: true })).to.deep.equal({
      calls: [],
      warning: '299 - "role bindings of the user may remain: not synced yet"',
    }))
})
