import { expect } from 'chai'
import {
  accessToken,
  group,
  kubectl,
  kubectlJson,
  kubectlOutput,
  makeNamespace,
  nodes,
  sendToKapis,
  sendToKube,
  tokenOf,
  uniqueName,
} from './cluster.ts'
import {
  apply,
  askRaw,
  eventually,
  expectStatus,
  groupDomain,
  kubeNodes,
  listAs,
  logIn,
  makeUser,
  type NodeObject,
  platformPath,
  sendAs,
  shortPath,
  statusBody,
} from './http.ts'
import { setting } from './run.ts'

const namespace = uniqueName('platform')
const cordoned = `${namespace}-cordoned`
const pressed = `${namespace}-pressed`
const usersPath = `/kapis/iam.${groupDomain}/v1alpha2/users`
const workspacesPath = `/kapis/tenant.${groupDomain}/v1alpha1/workspaces`
const disabledUser = uniqueName('user')
const amounts = ['cpu-requests', 'cpu-limits', 'memory-requests', 'memory-limits']
const computed = amounts
  .flatMap(name => [name, `${name}-fraction`])
  .map(name => `node.${groupDomain}/${name}`)

describe('nodes in the platform API', function () {
  this.timeout(60_000)

  let token = ''
  let reader = ''
  let unprivileged = ''

  before(async () => {
    await makeNamespace(namespace, ['default', 'reader', 'unprivileged'])
    await kubectlOutput('create', 'clusterrole', namespace, '--verb=get,list', `--resource=${nodes}`)
    const subjects = [`--serviceaccount=${namespace}:reader`, `--user=${disabledUser}`]
    await kubectlOutput('create', 'clusterrolebinding', namespace, `--clusterrole=${namespace}`, ...subjects)
    await makeNodes()
    await makePods()
    token = await accessToken()
    reader = await tokenOf(namespace, 'reader')
    unprivileged = await tokenOf(namespace, 'unprivileged')
  })

  after(async () => {
    await kubectl('delete', 'clusterrolebinding,clusterrole', namespace)
    await kubectl('delete', `users.iam.${groupDomain}`, disabledUser, '--ignore-not-found')
    await kubectl('delete', 'pods', '--all', '-n', namespace, '--force', '--grace-period=0')
    await kubectl('delete', 'node', cordoned, pressed, '--ignore-not-found')
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  describe('access', () => {
    for (const path of [platformPath, shortPath]) {
      it(`${path.split('/')[1]}: is granted to a user who logs in with a password`, async () => {
        const list = await sendAs(token, `${path}?sortBy=name&ascending=true`)
        expect(list.code).to.equal(200)
        const page = JSON.parse(list.body)
        expect(page).to.have.all.keys('items', 'totalItems')
        const [first] = page.items
        const one = await sendAs(token, `${path}/${first.metadata.name}`)
        expect(one.code).to.equal(200)
        expect(JSON.parse(one.body)).to.deep.equal(first)
      })

      it(`${path.split('/')[1]}: is granted to a service account with permission`, async () => {
        expect((await sendAs(reader, path)).code).to.equal(200)
        expect((await sendAs(reader, `${path}/${cordoned}`)).code).to.equal(200)
      })

      it(`${path.split('/')[1]}: is denied to a service account without permission`, async () => {
        const user = `system:serviceaccount:${namespace}:unprivileged`
        const message = `${nodes} is forbidden: User "${user}" cannot list resource "nodes" in API group "${group}" at the cluster scope`
        expectStatus(
          await sendAs(unprivileged, path),
          statusBody(403, 'Forbidden', message, { group, kind: 'nodes' }),
        )
        const named = `${nodes} "${cordoned}" is forbidden: User "${user}" cannot get resource "nodes" in API group "${group}" at the cluster scope`
        const details = { name: cordoned, group, kind: 'nodes' }
        expectStatus(
          await sendAs(unprivileged, `${path}/${cordoned}`),
          statusBody(403, 'Forbidden', named, details),
        )
      })

      it(`${path.split('/')[1]}: returns a challenge without credentials`, async () => {
        for (const target of [path, `${path}/${cordoned}`, `${path}/no-such-node`]) {
          const response = await sendToKapis(target)
          expectStatus(response, statusBody(401, 'Unauthorized', 'Unauthorized'))
          expect(response.headers['www-authenticate']).to.match(/^Bearer\b/)
        }
      })
    }

    it('is denied to a token of an unknown issuer', async () => {
      for (const wrong of ['x', 'a.b.c', `${token}x`, `${token.split('.').slice(0, 2).join('.')}.`]) {
        const response = await sendAs(wrong, platformPath)
        expectStatus(response, statusBody(401, 'Unauthorized', 'Unauthorized'))
        expect(response.headers['www-authenticate']).to.match(/^Bearer\b/)
      }
    })

    it('does not depend on the content type of a GET', async () => {
      const headers = { 'content-type': 'application/json' }
      expect((await sendAs(token, platformPath, { headers })).code).to.equal(200)
      expect((await sendAs(token, `${platformPath}/${cordoned}`, { headers })).code).to.equal(200)
    })

    it('does not grow with headers that assert an identity', async () => {
      const claims = [
        { 'x-remote-user': 'system:admin', 'x-remote-group': 'system:masters' },
        { 'impersonate-user': 'system:admin', 'impersonate-group': 'system:masters' },
        { 'impersonate-group': 'system:masters' },
        { 'x-remote-user': setting('KAPIS_USER'), 'x-remote-extra-scopes': 'all', 'x-remote-uid': '0' },
      ]
      for (const headers of claims) {
        const text = JSON.stringify(headers)
        // Impersonating a group requires impersonating a user.
        const isBroken = 'impersonate-group' in headers && !('impersonate-user' in headers)
        const refused = isBroken ? 400 : 403
        expect((await sendAs(unprivileged, platformPath, { headers })).code, text).to.equal(refused)
        expect((await sendToKapis(platformPath, { headers })).code, text).to.be.oneOf([401, refused])
        const metrics = await sendAs(unprivileged, '/metrics', { headers })
        expect(metrics.code, text).to.equal(refused)
      }
    })

    it('is denied to a disabled user within two seconds', async () => {
      await makeUser(disabledUser)
      let access = ''
      await eventually(async () => {
        const response = await logIn(disabledUser, setting('KAPIS_PASSWORD'))
        expect(response.code, response.body).to.equal(200)
        access = JSON.parse(response.body).access_token
      }, 15_000)
      await eventually(async () => {
        const response = await sendAs(access, platformPath)
        expect(response.code, response.body).to.equal(200)
      }, 15_000)
      const patch = JSON.stringify({ status: { state: 'Disabled' } })
      const users = `users.iam.${groupDomain}`
      const args = ['--subresource=status', '--type=merge', '-p', patch]
      await kubectlOutput('patch', users, disabledUser, ...args)
      await eventually(async () => {
        const response = await sendAs(access, platformPath)
        expectStatus(response, statusBody(401, 'Unauthorized', 'Unauthorized'))
      }, 2_000)
      // kapis-oauth watches users independently.
      await eventually(async () => {
        expect((await logIn(disabledUser, setting('KAPIS_PASSWORD'))).code).to.equal(400)
      }, 2_000)
    })
  })

  describe('responses', () => {
    it('contain every node of kube-apiserver, with a selfLink and pod totals', async () => {
      await eventually(async () => {
        const { items, totalItems } = await listAs(token)
        const expected = await kubeNodes()
        expect(totalItems).to.equal(expected.length)
        expect(byName(items.map(withoutAdditions))).to.deep.equal(byName(expected))
      }, 10_000)
    })

    it('add only the selfLink and eight annotations, and preserve empty labels', async () => {
      const { items } = await listAs(token)
      for (const item of items) {
        expect(item).to.have.all.keys('kind', 'apiVersion', 'metadata', 'spec', 'status')
        expect([item.kind, item.apiVersion]).to.deep.equal(['Node', 'v1'])
        expect(item.metadata.selfLink).to.equal(`/api/v1/nodes/${item.metadata.name}`)
        expect(item.metadata).to.include.keys('uid', 'resourceVersion', 'creationTimestamp')
        expect(item.metadata).to.not.have.property('managedFields')
        expect(item.metadata.annotations).to.include.keys(computed)
      }
      const own = items.find(({ metadata }) => metadata.name === cordoned)
      expect(own?.metadata.labels).to.include({ 'e2e/empty': '', 'e2e/color': 'red' })
    })

    it('contain managed fields only on request', async () => {
      const { items } = await listAs(token, '?managedFields=true')
      for (const item of items) expect(item.metadata.managedFields).to.be.an('array').that.is.not.empty
      const one = JSON.parse((await sendAs(token, `${platformPath}/${cordoned}?managedFields=true`)).body)
      expect(one.metadata.managedFields).to.be.an('array').that.is.not.empty
      const plain = JSON.parse((await sendAs(token, `${platformPath}/${cordoned}?managedFields=false`)).body)
      expect(plain.metadata).to.not.have.property('managedFields')
    })

    it('contain totals of pods that have not ended', async () => {
      await eventually(async () => {
        const { items } = await listAs(token)
        const pods = ((await kubectlJson('get', 'pods', '-A')) as { items: Pod[] }).items
        for (const { metadata, status } of items) {
          const own = Object.fromEntries(
            computed.map(key => [key.slice(key.indexOf('/') + 1), metadata.annotations?.[key] ?? '']),
          )
          expect(read(own), metadata.name).to.deep.equal(sums(pods, metadata.name, status.allocatable))
        }
        const unit = items.find(({ metadata }) => metadata.name === cordoned)?.metadata.annotations ?? {}
        // 100m and 100m of a sidecar are less than 700m of an init container and 100m of that
        // sidecar.
        expect(computed.map(key => unit[key])).to.deep.equal([
          '800m',
          '20%',
          '500m',
          '12%',
          '192Mi',
          '9%',
          '256Mi',
          '12%',
        ])
      }, 10_000)
    })

    it('to HEAD are those to GET without a body', async () => {
      for (const target of [`${platformPath}?sortBy=name`, `${platformPath}/${cordoned}`]) {
        const get = await sendAs(token, target)
        const head = await sendAs(token, target, { method: 'HEAD' })
        expect([head.code, head.body]).to.deep.equal([200, ''])
        expect(head.headers['content-type']).to.equal(get.headers['content-type'])
        expect(head.headers['content-length']).to.equal(get.headers['content-length'])
      }
      const missing = await sendAs(token, `${platformPath}/no-such-node`, { method: 'HEAD' })
      expect([missing.code, missing.body]).to.deep.equal([404, ''])
    })
  })

  describe('order and pages', () => {
    const orders: readonly (readonly [string, (node: NodeObject) => string, boolean])[] = [
      ['', created, false],
      ['?ascending=true', created, true],
      ['?sortBy=name', named, false],
      ['?sortBy=name&ascending=true', named, true],
      ['?sortBy=name&ascending=false', named, false],
      ['?sortBy=createTime', created, false],
      ['?sortBy=createTime&ascending=1', created, true],
      ['?sortBy=creationTimestamp&ascending=T', created, true],
    ]
    for (const [query, key, isAscending] of orders) {
      it(`${query || 'no query'}: ${isAscending ? 'ascending' : 'descending'}, equal values by name`, async () => {
        const { items } = await listAs(token, query)
        expect(items.map(named)).to.deep.equal(ordered(await kubeNodes(), key, isAscending))
      })
    }

    it('pages divide the sorted list, and the total is constant', async () => {
      const all = ordered(await kubeNodes(), named, true)
      for (const limit of [1, 2, 3, all.length, all.length + 7]) {
        for (let page = 1; page <= Math.ceil(all.length / limit) + 1; page++) {
          const query = `?sortBy=name&ascending=true&limit=${limit}&page=${page}`
          const { items, totalItems } = await listAs(token, query)
          expect(items.map(named), query).to.deep.equal(all.slice((page - 1) * limit, page * limit))
          expect(totalItems).to.equal(all.length)
        }
      }
    })

    it('limit 0 only counts, limit -1 returns everything, and a page after the end is empty', async () => {
      const total = (await kubeNodes()).length
      expect(await listAs(token, '?limit=0')).to.deep.equal({ items: [], totalItems: total })
      for (const query of ['?limit=-1', '?limit=-1&page=3', '?limit=', '?page=1']) {
        expect((await listAs(token, query)).items, query).to.have.lengthOf(total)
      }
      expect(await listAs(token, '?limit=10&page=999')).to.deep.equal({ items: [], totalItems: total })
    })
  })

  describe('filters', () => {
    it('return the same as filtering kube-apiserver’s list', async () => {
      const all = await kubeNodes()
      const own = all.find(({ metadata }) => metadata.name === cordoned)
      const owner = own?.metadata.ownerReferences?.[0]?.uid ?? ''
      const cases: readonly (readonly [string, (node: NodeObject) => boolean])[] = [
        ['name=worker', node => named(node).includes('worker')],
        ['name=WORKER', node => named(node).includes('WORKER')],
        [
          `names=${cordoned},nothing,${named(all[0]!)}`,
          node => [cordoned, named(all[0]!)].includes(named(node)),
        ],
        ['names=work', () => false],
        [
          'alias=blue',
          node => node.metadata.annotations?.[`${groupDomain}/alias-name`]?.includes('blue') === true,
        ],
        [`uid=${own?.metadata.uid}`, node => named(node) === cordoned],
        ['uid=none', () => false],
        ['namespace=default', () => false],
        [
          `ownerReference=${owner}`,
          node => (node.metadata.ownerReferences ?? []).some(({ uid }) => uid === owner),
        ],
        [
          'ownerKind=Namespace',
          node => (node.metadata.ownerReferences ?? []).some(({ kind }) => kind === 'Namespace'),
        ],
        ['annotation=e2e/note%3Dyes', node => node.metadata.annotations?.['e2e/note'] === 'yes'],
        ['label=e2e/color%3Dred', node => node.metadata.labels?.['e2e/color'] === 'red'],
        ['labelSelector=e2e/color%3Dred', node => node.metadata.labels?.['e2e/color'] === 'red'],
        ['labelSelector=e2e/color!%3Dred', node => node.metadata.labels?.['e2e/color'] !== 'red'],
        ['labelSelector=e2e/color%20in%20(red,green)', node => hasLabel(node, 'e2e/color')],
        ['labelSelector=e2e/color%20notin%20(red)', node => node.metadata.labels?.['e2e/color'] !== 'red'],
        ['labelSelector=e2e/empty', node => hasLabel(node, 'e2e/empty')],
        ['labelSelector=e2e/empty%3D', node => node.metadata.labels?.['e2e/empty'] === ''],
        ['labelSelector=!e2e/empty', node => !hasLabel(node, 'e2e/empty')],
        ['labelSelector=e2e/empty,e2e/color%3Dgreen', () => false],
        ['status=unschedulable', node => status(node) === 'unschedulable'],
        ['status=warning', node => status(node) === 'warning'],
        ['status=running', node => status(node) === 'running'],
        ['status=running&name=worker', node => status(node) === 'running' && named(node).includes('worker')],
        ['name=', () => true],
      ]
      for (const [query, keeps] of cases) {
        const { items, totalItems } = await listAs(token, `?sortBy=name&ascending=true&${query}`)
        const expected = ordered(all.filter(keeps), named, true)
        expect({ names: items.map(named), totalItems }, query).to.deep.equal({
          names: expected,
          totalItems: expected.length,
        })
      }
      expect(all.map(status)).to.include.members(['unschedulable', 'running'])
    })
  })

  describe('the state of a list', () => {
    const namespace = uniqueName('state')
    const path = `/kapi/v1/namespaces/${namespace}/configmaps`
    const label = uniqueName('of')
    const selector = `labelSelector=${label}&sortBy=name&ascending=true`
    const make = async (name: string) => {
      await kubectlOutput('-n', namespace, 'create', 'configmap', name)
      await kubectlOutput('-n', namespace, 'label', 'configmap', name, `${label}=`)
      return versionOf(name)
    }
    const versionOf = (name: string) =>
      kubectlOutput('-n', namespace, 'get', 'configmap', name, '-o', 'jsonpath={.metadata.resourceVersion}')
    const list = async (query: string) => {
      const { code, body } = await sendAs(token, `${path}?${selector}&${query}`)
      expect(code, body).to.equal(200)
      const { items, totalItems, metadata } = JSON.parse(body)
      const names: string[] = items.map((item: { metadata: { name: string } }) => item.metadata.name)
      return { names, totalItems, version: metadata.resourceVersion }
    }
    before(async () => {
      await makeNamespace(namespace, [])
      await list('')
    })
    after(async () => {
      await kubectl('delete', 'namespace', namespace, '--wait=false')
    })

    it('is never older than the requested version, and exactly that version if requested', async () => {
      const first = await make('a')
      expect(await list(`resourceVersion=${first}`)).to.deep.include({ names: ['a'], totalItems: 1 })
      const second = await make('b')
      const both = { names: ['a', 'b'], totalItems: 2 }
      expect(await list(`resourceVersion=${second}&resourceVersionMatch=NotOlderThan`)).to.deep.include(both)
      expect(await list(`resourceVersion=${first}&resourceVersionMatch=NotOlderThan`)).to.deep.include(both)
      expect(await list('resourceVersion=0&resourceVersionMatch=NotOlderThan')).to.deep.include(both)
      expect(await list(`resourceVersion=${first}&resourceVersionMatch=Exact`)).to.deep.equal({
        names: ['a'],
        totalItems: 1,
        version: first,
      })
      expect(await list(`resourceVersion=${second}&resourceVersionMatch=Exact&limit=1&page=2`)).to.deep.equal(
        { names: ['b'], totalItems: 2, version: second },
      )
      const one = await sendAs(token, `${path}/b?resourceVersion=${second}`)
      expect(JSON.parse(one.body).metadata.name).to.equal('b')
    })

    it('is rejected when it is in the future, or has expired', async () => {
      const ahead = await sendAs(token, `${path}?resourceVersion=999999999`)
      expect(JSON.parse(ahead.body)).to.deep.include({ code: 504, reason: 'Timeout' })
      const behind = await sendAs(token, `${path}?resourceVersion=1&resourceVersionMatch=Exact`)
      expectStatus(
        behind,
        statusBody(410, 'Expired', 'The resourceVersion for the provided list is too old: 1'),
      )
    })
  })

  describe('rejected requests', () => {
    // As in KubeSphere 3.4, an invalid value is replaced by the default.
    for (const query of [
      'page=x',
      'limit=-2',
      'sortBy=startTime',
      'ascending=yes',
      'color=red',
      '__proto__=x',
    ]) {
      it(`?${query} is accepted with a warning`, async () => {
        const response = await sendAs(token, `${platformPath}?${query}`)
        const whole = JSON.parse((await sendAs(token, platformPath)).body)
        const [name, value] = query.split('=')
        expect([response.code, JSON.parse(response.body).totalItems]).to.deep.equal([200, whole.totalItems])
        expect(response.headers.warning).to.match(/^299 - "(invalid|ignored unknown) /)
        expect(response.headers.warning).to.include(query.includes('=x') ? name : value)
      })
    }

    const states = [
      'resourceVersionMatch=NotOlderThan',
      'resourceVersionMatch=Exact&resourceVersion=0',
      'resourceVersionMatch=Sometimes&resourceVersion=1',
      'resourceVersionMatch=foo&sendInitialEvents=true',
      'sendInitialEvents=true',
      'watch=true&sendInitialEvents=true',
      'watch=true&sendInitialEvents=true&resourceVersionMatch=Exact',
      'watch=true&resourceVersionMatch=NotOlderThan',
    ]
    for (const query of states) {
      it(`?${query} in every list, as in kube-apiserver`, async () => {
        const { code, body } = await sendToKube(token, `/api/v1/nodes?${query}`)
        expect(code).to.equal(422)
        for (const list of [platformPath, usersPath, workspacesPath, '/kapis/apps/v1/deployments'])
          expectStatus(await sendAs(token, `${list}?${query}`), JSON.parse(body))
      })
    }

    for (const parameter of ['labelSelector', 'label', 'annotation']) {
      it(`an invalid ${parameter}, which the message names`, async () => {
        const response = await sendAs(token, `${platformPath}?${parameter}=a%3D%3D%3Db(`)
        const { message, ...rest } = JSON.parse(response.body)
        expect({ ...rest, message: '' }).to.deep.equal(statusBody(400, 'BadRequest', ''))
        expect(message).to.match(new RegExp(`^${parameter} "a===b\\(" cannot be parsed`))
      })
    }

    it('a missing node', async () => {
      const details = { name: 'no-such-node', kind: 'nodes' }
      const body = statusBody(404, 'NotFound', 'nodes "no-such-node" not found', details)
      expectStatus(await sendAs(token, `${platformPath}/no-such-node`), body)
    })

    it('an unknown resource, and a subresource of a node', async () => {
      const base = platformPath.slice(0, platformPath.lastIndexOf('/'))
      for (const path of [
        `${base}/gadgets`,
        `${base}/gadgets/x`,
        `${base}/namespaces/default/nodes`,
        `${platformPath}/${cordoned}/status`,
        '/kapis/nothing.example.com/v1/nodes',
        '/kapis',
      ]) {
        const response = await sendAs(token, path)
        const { message, ...rest } = JSON.parse(response.body)
        expect(message, path).to.be.a('string').that.is.not.empty
        expect({ ...rest, message: '' }, path).to.deep.equal(statusBody(404, 'NotFound', '', {}))
        expect(response.code, path).to.equal(404)
      }
    })

    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      it(`${method}, with the allowed methods`, async () => {
        const message = 'the server does not allow this method on the requested resource'
        for (const path of [platformPath, `${platformPath}/${cordoned}`]) {
          const response = await sendAs(token, path, { method })
          expectStatus(response, statusBody(405, 'MethodNotAllowed', message, {}))
          expect(response.headers.allow).to.equal('GET, HEAD')
        }
        expect((await sendAs(reader, platformPath, { method })).code).to.equal(403)
      })
    }

    it('a path that two parsers could read differently', async () => {
      const base = platformPath.slice(0, platformPath.lastIndexOf('/'))
      const paths = [
        `/${platformPath}`,
        `${base}//nodes`,
        `${platformPath}//`,
        `${base}/../v1alpha3/nodes`,
        `${base}/./nodes`,
        `${platformPath}/..`,
        `${base}/%2e%2e/v1alpha3/nodes`,
        `${base}/nodes%2f${cordoned}`,
        `${base}/nodes%2F${cordoned}`,
        `${base}/nodes%5c${cordoned}`,
        `${base}\\nodes`,
        `${platformPath}/a%00b`,
        `${platformPath}/a%0d%0ab`,
        `${platformPath}/%zz`,
        `${platformPath}/%ff`,
        `/healthz/../${platformPath.slice(1)}`,
        `/oauth/..${platformPath}`,
      ]
      for (const path of paths) {
        for (const headers of [{ authorization: `Bearer ${token}` }, {}]) {
          const response = await askRaw(path, { headers })
          const { message, ...rest } = JSON.parse(response.body)
          expect(message, path).to.be.a('string').that.is.not.empty
          expect({ ...rest, message: '' }, path).to.deep.equal(statusBody(400, 'BadRequest', ''))
          expect(response.code, path).to.equal(400)
        }
      }
    })
  })
})

function named({ metadata }: NodeObject): string {
  return metadata.name
}

function created({ metadata }: NodeObject): string {
  return metadata.creationTimestamp
}

function byName(list: readonly NodeObject[]): readonly NodeObject[] {
  return list.toSorted((a, b) => (named(a) < named(b) ? -1 : 1))
}

/**
 * Sorts names in the requested order. Descending is the exact reverse of ascending, including ties.
 */
function ordered(list: readonly NodeObject[], key: (node: NodeObject) => string, isAscending: boolean) {
  const keys = list.map(node => [key(node), named(node)] as const)
  const names = keys
    .toSorted((a, b) => (a[0] === b[0] ? (a[1] < b[1] ? -1 : 1) : a[0] < b[0] ? -1 : 1))
    .map(([, name]) => name)
  return isAscending ? names : names.reverse()
}

function hasLabel({ metadata }: NodeObject, key: string): boolean {
  return Object.hasOwn(metadata.labels ?? {}, key)
}

const healthyWhenTrue = ['Ready', 'ConfigOK', 'KubeletReady']
const healthyWhenFalse = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable']

function status(node: NodeObject): string {
  if (node.spec.unschedulable) return 'unschedulable'
  const isIll = (node.status.conditions ?? []).some(
    condition =>
      (healthyWhenTrue.includes(condition.type) && condition.status !== 'True') ||
      (healthyWhenFalse.includes(condition.type) && condition.status !== 'False'),
  )
  return isIll ? 'warning' : 'running'
}

function withoutAdditions(node: NodeObject): NodeObject {
  const { selfLink, annotations, ...metadata } = node.metadata
  const own = Object.entries(annotations ?? {}).filter(([key]) => !computed.includes(key))
  return {
    ...node,
    metadata: own.length > 0 ? { ...metadata, annotations: Object.fromEntries(own) } : metadata,
  }
}

type Container = {
  readonly restartPolicy?: string
  readonly resources?: Readonly<Record<string, Readonly<Record<string, string>>>>
}
type Pod = {
  readonly spec: {
    readonly nodeName?: string
    readonly containers: readonly Container[]
    readonly initContainers?: readonly Container[]
    readonly overhead?: Readonly<Record<string, string>>
  }
  readonly status: { readonly phase: string }
}

const scales: Readonly<Record<string, number>> = {
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
}

/** Converts a quantity to thousandths, in which all samples are whole numbers. */
function thousandths(quantity: string | undefined): number {
  const [, digits = '0', unit = ''] = /^([\d.]+)(\D*)$/.exec(quantity ?? '0') ?? []
  const scale = scales[unit]
  if (scale === undefined) throw new Error(`${quantity}: unknown unit`)
  return Math.round(Number(digits) * scale * 1000)
}

function read(annotations: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    Object.entries(annotations).map(([key, value]) => [
      key,
      key.endsWith('-fraction') ? value : thousandths(value),
    ]),
  )
}

function sums(pods: readonly Pod[], node: string, allocatable: Readonly<Record<string, string>>) {
  const on = pods.filter(
    ({ spec, status }) => spec.nodeName === node && !['Succeeded', 'Failed'].includes(status.phase),
  )
  return Object.fromEntries(
    amounts.flatMap(name => {
      const [resource = '', kind = ''] = name.split('-')
      const sum = on.reduce((before, pod) => before + ofPod(pod, kind, resource), 0)
      const whole = thousandths(allocatable[resource])
      const fraction = whole === 0 ? 0 : Math.floor((sum * 100) / whole)
      return [
        [name, sum],
        [`${name}-fraction`, `${fraction}%`],
      ]
    }),
  )
}

function ofPod({ spec }: Pod, kind: string, resource: string): number {
  const amount = ({ resources }: Container) => thousandths(resources?.[kind]?.[resource])
  let sidecars = 0
  let peak = 0
  for (const container of spec.initContainers ?? []) {
    if (container.restartPolicy === 'Always') sidecars += amount(container)
    peak = Math.max(peak, sidecars + (container.restartPolicy === 'Always' ? 0 : amount(container)))
  }
  const running = sidecars + spec.containers.reduce((sum, container) => sum + amount(container), 0)
  const most = Math.max(running, peak)
  if (kind === 'limits' && most === 0) return 0
  return most + thousandths(spec.overhead?.[resource])
}

/**
 * Creates nodes with properties that the sample nodes lack: an alias, an owner, empty labels, a
 * cordon, an unhealthy condition.
 */
async function makeNodes(): Promise<void> {
  const uid = await kubectlOutput('get', 'namespace', 'default', '-o', 'jsonpath={.metadata.uid}')
  const owner = { apiVersion: 'v1', kind: 'Namespace', name: 'default', uid }
  const base = { apiVersion: 'v1', kind: 'Node' }
  const status = {
    allocatable: { cpu: '4', memory: '2Gi', pods: '10' },
    capacity: { cpu: '4', memory: '2Gi', pods: '10' },
  }
  await apply({
    ...base,
    metadata: {
      name: cordoned,
      labels: { 'e2e/empty': '', 'e2e/color': 'red' },
      annotations: { 'e2e/note': 'yes', [`${groupDomain}/alias-name`]: 'the blue one' },
      ownerReferences: [owner],
    },
    spec: { unschedulable: true },
    status,
  })
  await apply({ ...base, metadata: { name: pressed, labels: { 'e2e/color': 'green' } }, status })
  await setStatus('node', pressed, { conditions: [{ type: 'MemoryPressure', status: 'True' }] })
}

async function makePods(): Promise<void> {
  const container = (name: string, cpu: string, memory: string) => ({
    name,
    image: 'registry.example.com/e2e:v1',
    resources: { requests: { cpu, memory } },
  })
  const pod = (name: string, spec: object) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: { nodeName: cordoned, tolerations: [{ operator: 'Exists' }], ...spec },
  })
  const limited = {
    ...container('main', '100m', '64Mi'),
    resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '500m', memory: '256Mi' } },
  }
  await apply(
    pod('layered', {
      initContainers: [
        { ...container('sidecar', '100m', '64Mi'), restartPolicy: 'Always' },
        container('first', '700m', '128Mi'),
      ],
      containers: [limited],
    }),
  )
  await apply(pod('ended', { containers: [container('main', '2', '1Gi')], restartPolicy: 'Never' }))
  await setStatus('pod', 'ended', { phase: 'Succeeded' })
}

async function setStatus(kind: string, name: string, status: object): Promise<void> {
  const patch = JSON.stringify({ status })
  await kubectlOutput(
    'patch',
    kind,
    name,
    '-n',
    namespace,
    '--subresource=status',
    '--type=merge',
    '-p',
    patch,
  )
}
