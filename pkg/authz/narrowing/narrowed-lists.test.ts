import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect } from 'chai'
import { rejectedStatus } from '../../apierrors/fixtures.ts'
import { jane } from '../../apirequest/fixtures.ts'
import { anonymous, type Identity } from '../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { type RequestInfo, toResourceInfo } from '../../apirequest/request-info.ts'
import { parseLine } from '../../apirequest/request-line.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { until } from '../../kubeclient/fixtures.ts'
import { fieldsOf, itemsOf, type KubeObject, textOf } from '../../kubeclient/object/object.ts'
import { createRandom } from '../../resourcecache/fixtures.ts'
import { createTaskQueue } from '../../scheduling/task-queue.ts'
import type { Binding, RbacReader } from '../rbac/rbac-index.ts'
import { binding, groupOf, indexOf, role, user } from '../review/fixtures.ts'
import { parseRules } from '../review/rule.ts'
import { createNarrowedLists, isNarrowable, narrowedHeader } from './narrowed-lists.ts'

type Review = { readonly verb: string; readonly resource: string; readonly namespace: string }
type Decide = (review: Review, spec: Readonly<Record<string, unknown>>) => boolean

function clientOf(allows: Decide): { client: KubeClient; reviews: Review[] } {
  const reviews: Review[] = []
  const client: KubeClient = {
    async call({ body }) {
      const spec = fieldsOf(fieldsOf(body).spec)
      const { verb, resource, namespace } = fieldsOf(spec.resourceAttributes)
      const asked = { verb: textOf(verb), resource: textOf(resource), namespace: textOf(namespace) }
      reviews.push(asked)
      return { status: { allowed: allows(asked, spec) } }
    },
    stream: () => Promise.reject(new Error('nothing is streamed here')),
    close: () => undefined,
  }
  return { client, reviews }
}

function exchangeOf(identity: Identity): AuthenticatedExchange {
  const res = new ServerResponse(new IncomingMessage(new Socket()))
  return { res, identity } as unknown as AuthenticatedExchange
}

const isNamespaced = async () => true
const tasks = createTaskQueue(error => {
  throw error
})
const pods = toResourceInfo({ verb: 'list', resource: 'pods' })

/** Creates bindings of jane to a role that lists pods; tests can change them. */
function readerOf(...namespaces: readonly string[]) {
  const listeners = new Set<() => void>()
  const state = { namespaces }
  const rules = parseRules([{ apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] }])
  const reader: Pick<RbacReader, 'bindingsOf' | 'rulesOf' | 'onChange'> = {
    bindingsOf: () =>
      state.namespaces.map((namespace): Binding => ({ namespace, name: 'a', role: 'lists', subjects: [] })),
    rulesOf: () => rules,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  return {
    reader,
    bind(...names: readonly string[]) {
      state.namespaces = names
      for (const listener of listeners) listener()
    },
  }
}

/** A role that narrows nothing: it is not bound, or the list is of another group. */
const unbound = { narrowedBy: (info: RequestInfo) => info }
const rbacAlone = async () => ({ incomplete: false })
const withWebhook = async () => ({ incomplete: true })

describe('createNarrowedLists', () => {
  it('returns the namespaces that kube-apiserver allows, for 200 generated users', async function () {
    this.timeout(20_000)
    const { objects, users, requests } = generate(41)
    const index = await indexOf(objects)
    try {
      const { client } = clientOf((_, spec) => allowsByRbac(objects, spec))
      const lists = createNarrowedLists({
        tasks,
        role: unbound,
        client,
        reader: index.reader(),
        resolution: rbacAlone,
      })
      const may = (identity: Identity, info: RequestInfo, namespace: string) =>
        allowsByRbac(objects, specOf(identity, info, namespace))
      async function isNarrowedRightly(identity: Identity, info: RequestInfo): Promise<boolean> {
        if (may(identity, info, '')) return false
        // A watch only shows namespaces in which the caller may also list.
        const listing = { ...info, verb: 'list' }
        const isListed = (namespace: string) => [namespace, ''].some(each => may(identity, listing, each))
        const expected = places.filter(namespace => may(identity, info, namespace) && isListed(namespace))
        const isPartly = places.some(namespace => isListed(namespace) && !may(identity, info, namespace))
        const exchange = exchangeOf(identity)
        const isNarrowed = await lists.narrow(exchange, info, isNamespaced)
        const { has = () => false, fixed } = lists.of(exchange) ?? {}
        const shown = places.filter(namespace => has({ namespace } as Parameters<typeof has>[0]))
        const request = `${identity.username} ${info.verb} ${info.resource} ${info.name}`
        expect(shown, request).to.deep.equal(expected)
        expect(isNarrowed, request).to.equal(expected.length > 0)
        expect(fixed?.unfollowed?.code, request).to.equal(isNarrowed && isPartly ? 403 : undefined)
        const header = exchange.res.getHeader(narrowedHeader)
        expect(header, request).to.equal(expected.length > 0 ? String(expected.length) : undefined)
        return isNarrowed
      }
      let narrowed = 0
      for (const identity of users)
        for (const info of requests) if (await isNarrowedRightly(identity, info)) narrowed++
      expect(narrowed).to.be.above(300)
    } finally {
      index.stop()
    }
  })

  it('shows no namespace that kube-apiserver denies, even if RBAC allows it', async () => {
    const { client } = clientOf(({ namespace }) => namespace === 'b')
    const lists = createNarrowedLists({
      tasks,
      role: unbound,
      client,
      reader: readerOf('a', 'b').reader,
      resolution: withWebhook,
    })
    const exchange = exchangeOf(jane)
    expect(await lists.narrow(exchange, pods, isNamespaced)).to.equal(true)
    expect(exchange.res.getHeader(narrowedHeader)).to.equal('1')
  })

  for (const verb of ['list', 'watch'])
    it(`narrows a ${verb} to namespaces while kube-apiserver does not know a new binding for the cluster`, async () => {
      const { client } = clientOf(({ namespace }) => namespace !== '')
      const { reader, bind } = readerOf('a', '')
      const lists = createNarrowedLists({ tasks, role: unbound, client, reader, resolution: rbacAlone })
      const exchange = exchangeOf(jane)
      expect(await lists.narrow(exchange, { ...pods, verb }, isNamespaced)).to.equal(true)
      expect(exchange.res.getHeader(narrowedHeader)).to.equal('1')
      const { permissions, fixed } = lists.of(exchange) ?? {}
      expect([permissions?.isCurrent(), fixed?.unfollowed]).to.deep.equal([true, undefined])
      bind('a')
      expect(permissions?.isCurrent()).to.equal(false)
    })

  it('notifies a watch once kube-apiserver applies a binding for the cluster', async function () {
    this.timeout(10_000)
    const allowed = { everywhere: false }
    const { client } = clientOf(({ namespace }) => namespace !== '' || allowed.everywhere)
    const { reader } = readerOf('a', '')
    const lists = createNarrowedLists({ tasks, role: unbound, client, reader, resolution: rbacAlone })
    const exchange = exchangeOf(jane)
    await lists.narrow(exchange, { ...pods, verb: 'watch' }, isNamespaced)
    const changed = new Promise<void>(resolve => lists.of(exchange)?.onChange(resolve))
    allowed.everywhere = true
    await changed
    // A list that was denied before is not narrowed any more.
    expect(await lists.narrow(exchangeOf(jane), { ...pods, verb: 'watch' }, isNamespaced)).to.equal(false)
  })

  it('never narrows a list to no namespace, nor lists of cluster-scoped kinds', async () => {
    const none = createNarrowedLists({
      tasks,
      role: unbound,
      ...clientOf(() => false),
      ...readerOf('a'),
      resolution: rbacAlone,
    })
    expect(await none.narrow(exchangeOf(jane), pods, isNamespaced)).to.equal(false)
    const yes = clientOf(() => true)
    const all = createNarrowedLists({ tasks, role: unbound, ...yes, ...readerOf('a'), resolution: rbacAlone })
    expect(await all.narrow(exchangeOf(jane), pods, async () => false)).to.equal(false)
    expect(yes.reviews).to.deep.equal([])
    const everywhere = createNarrowedLists({
      tasks,
      role: unbound,
      ...yes,
      ...readerOf(''),
      resolution: rbacAlone,
    })
    expect(await everywhere.narrow(exchangeOf(jane), pods, isNamespaced)).to.equal(false)
  })

  const many = Array.from({ length: 200 }, (_, i) => `n${i}`)
  const bounds = [
    { what: 'a sample of many', count: 200, resolution: rbacAlone, denied: '', reviews: 64, shown: '200' },
    {
      what: 'each namespace if one is denied',
      count: 200,
      resolution: rbacAlone,
      denied: 'n0',
      reviews: 264,
      shown: '199',
    },
    {
      what: 'each namespace if rules are unknown',
      count: 200,
      resolution: withWebhook,
      denied: '',
      reviews: 200,
      shown: '200',
    },
    {
      what: 'no namespace if there are too many',
      count: 1025,
      resolution: withWebhook,
      denied: '',
      reviews: 0,
      shown: undefined,
    },
  ]
  for (const { what, count, resolution, denied, reviews, shown } of bounds)
    it(`confirms with kube-apiserver ${what}`, async () => {
      const asked = clientOf(({ namespace }) => namespace !== denied)
      const names = count === 200 ? many : Array.from({ length: count }, (_, i) => `n${i}`)
      const lists = createNarrowedLists({ tasks, role: unbound, ...asked, ...readerOf(...names), resolution })
      for (let i = 0; i < 2; i++) {
        const exchange = exchangeOf(jane)
        await lists.narrow(exchange, pods, isNamespaced)
        expect(exchange.res.getHeader(narrowedHeader)).to.equal(shown)
      }
      expect(asked.reviews.length).to.equal(reviews)
    })

  it('hides a namespace once the binding is deleted, and notifies watches', async () => {
    const { reader, bind } = readerOf('a', 'b')
    const lists = createNarrowedLists({
      tasks,
      role: unbound,
      ...clientOf(() => true),
      reader,
      resolution: rbacAlone,
    })
    const first = exchangeOf(jane)
    await lists.narrow(first, pods, isNamespaced)
    let changes = 0
    const stop = lists.of(first)?.onChange(() => changes++)
    bind('b', 'a')
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(changes).to.equal(0)
    bind('b')
    await until(() => changes === 1)
    stop?.()
    const second = exchangeOf(jane)
    await lists.narrow(second, pods, isNamespaced)
    expect(second.res.getHeader(narrowedHeader)).to.equal('1')
    expect(lists.of(second)?.key).to.not.equal(lists.of(first)?.key)
    // The listener is also called for a change before it was added.
    lists.of(first)?.onChange(() => changes++)
    await until(() => changes === 2)
  })

  it('reports that permissions have changed since, and updates the result', async () => {
    const { reader, bind } = readerOf('a', 'b')
    const asked = Promise.withResolvers<void>()
    const { client } = clientOf(() => true)
    const slow: KubeClient = { ...client, call: call => asked.promise.then(() => client.call(call)) }
    const lists = createNarrowedLists({ tasks, role: unbound, client: slow, reader, resolution: rbacAlone })
    const exchange = exchangeOf(jane)
    const narrowing = lists.narrow(exchange, pods, isNamespaced)
    // The bindings change while the review is in progress.
    await new Promise(resolve => setImmediate(resolve))
    bind('b')
    asked.resolve()
    await narrowing
    const first = lists.of(exchange)
    expect(first?.permissions?.isCurrent()).to.equal(false)
    expect(first?.permissions?.mayStillSee()).to.equal(false)
    const second = await first?.permissions?.renew()
    expect(second?.permissions?.isCurrent()).to.equal(true)
    const has = (namespace: string) => second?.has({ namespace } as Parameters<typeof second.has>[0])
    expect([has('a'), has('b')]).to.deep.equal([false, true])
    expect(exchange.res.getHeader(narrowedHeader)).to.equal('1')
    const bindings: readonly (readonly [namespaces: readonly string[], is: boolean, may: boolean])[] = [
      [['b'], true, true],
      [['a', 'b'], false, true],
      [['a'], false, false],
      [[''], false, true],
      [[], false, false],
    ]
    for (const [namespaces, is, may] of bindings) {
      bind(...namespaces)
      const { isCurrent, mayStillSee } = second?.permissions ?? {}
      expect([isCurrent?.(), mayStillSee?.()], `${namespaces}`).to.deep.equal([is, may])
    }
    bind()
    const rejection = await rejectedStatus(Promise.resolve(second?.permissions?.renew()))
    expect(rejection).to.include({ code: 403 })
    // A binding for the whole cluster.
    bind('')
    expect(await second?.permissions?.renew()).to.equal(undefined)
    expect(exchange.res.getHeader(narrowedHeader)).to.equal(undefined)
    expect(lists.of(exchange)).to.equal(undefined)
  })

  it('does not show more to a waiting caller who was bound to a role without narrowing in the meantime', async () => {
    const { reader, bind } = readerOf('a')
    const { client } = clientOf(({ resource, namespace }) => resource === 'pods' || namespace !== '')
    const native = toResourceInfo({ verb: 'list', group: 'apps', resource: 'deployments' })
    let isBound = false
    const through = { narrowedBy: (info: RequestInfo) => (isBound ? native : info) }
    const lists = createNarrowedLists({ tasks, client, reader, resolution: rbacAlone, role: through })
    const exchange = exchangeOf(jane)
    await lists.narrow(exchange, pods, isNamespaced)
    const first = lists.of(exchange)
    isBound = true
    bind('')
    expect(first?.permissions?.isCurrent()).to.equal(false)
    expect(first?.permissions?.mayStillSee()).to.equal(false)
    const rejection = await rejectedStatus(Promise.resolve(first?.permissions?.renew()))
    expect(rejection).to.include({ code: 403 })
  })

  describe('for a caller who may list more namespaces than watch', () => {
    const reads = (verbs: readonly string[]) => [{ apiGroups: [''], resources: ['pods'], verbs }]
    async function watchOf(...bindings: readonly KubeObject[]) {
      const roles = [role('lists', reads(['list'])), role('both', reads(['list', 'watch']))]
      const objects = [...roles, role('watches', reads(['watch'])), ...bindings]
      const index = await indexOf(objects)
      const { client } = clientOf((_, spec) => allowsByRbac(objects, spec))
      const lists = createNarrowedLists({
        tasks,
        role: unbound,
        client,
        reader: index.reader(),
        resolution: rbacAlone,
      })
      const exchange = exchangeOf(jane)
      const isNarrowed = await lists.narrow(exchange, { ...pods, verb: 'watch' }, isNamespaced)
      index.stop()
      const { has, fixed } = lists.of(exchange) ?? {}
      const shown = ['a', 'b', 'c'].filter(namespace =>
        has?.({ namespace } as Parameters<NonNullable<typeof has>>[0]),
      )
      return { isNarrowed, shown, message: fixed?.unfollowed?.message }
    }
    const to = (name: string, namespace?: string) =>
      binding(`${name}-${namespace}`, `ClusterRole/${name}`, [user(jane.username)], namespace)

    it('watches the namespaces that allow both, and rejects a watch that continues a list of others', async () => {
      const { shown, message } = await watchOf(to('both', 'a'), to('lists', 'b'), to('lists', 'c'))
      expect(shown).to.deep.equal(['a'])
      expect(message).to.equal(
        `pods is forbidden: User "${jane.username}" cannot watch resource "pods" in API group "" in the namespace "b": ` +
          'you may list but not watch in the namespaces "b", "c"; watch one namespace, or watch with ' +
          'sendInitialEvents=true, which covers the namespaces where you may list and watch',
      )
    })

    it('names the cluster scope in that error if lists show the whole cluster', async () => {
      const { shown, message } = await watchOf(to('watches', 'a'), to('lists'))
      expect(shown).to.deep.equal(['a'])
      expect(message).to.contain('at the cluster scope: you may list but not watch in the whole cluster')
    })

    it('does not watch namespaces that the caller may not list', async () => {
      expect(await watchOf(to('both', 'a'), to('watches', 'b'))).to.deep.equal({
        ...{ isNarrowed: true, shown: ['a'], message: undefined },
      })
      expect(await watchOf(to('watches', 'a'))).to.deep.equal({
        ...{ isNarrowed: false, shown: [], message: undefined },
      })
    })
  })

  it('returns the version since which a caller has seen the same namespaces', async () => {
    const { reader, bind } = readerOf('a')
    const lists = createNarrowedLists({
      tasks,
      role: unbound,
      ...clientOf(() => true),
      reader,
      resolution: rbacAlone,
    })
    const visibleNames = async (info: RequestInfo, identity = jane) => {
      const exchange = exchangeOf(identity)
      await lists.narrow(exchange, info, isNamespaced)
      return lists.of(exchange)?.fixed
    }
    expect((await visibleNames(pods))?.versionShown()).to.equal(undefined)
    ;(await visibleNames(pods))?.show(7)
    ;(await visibleNames(pods))?.show(8)
    const watched = { ...pods, verb: 'watch' }
    expect((await visibleNames(watched))?.versionShown()).to.equal(7)
    expect((await visibleNames(pods, { ...jane, username: 'other' }))?.versionShown()).to.equal(undefined)
    bind('a', 'b')
    expect((await visibleNames(watched))?.versionShown()).to.equal(undefined)
  })
})

describe('isNarrowable', () => {
  const of = (target: string, identity = jane, method = 'GET') =>
    isNarrowable(parseLine(method, target).info, identity)
  const base = '/kapis/resources.kapis.io/v1alpha3'
  for (const target of ['pods', 'pods?watch=true', 'watch/pods', 'pods?fieldSelector=metadata.name%3Da'])
    it(`accepts ${target}`, () => expect(of(`${base}/${target}`)).to.equal(true))
  for (const target of [
    ...['namespaces/a/pods', 'watch/namespaces/a/pods', 'pods/a', 'watch/pods/a', 'pods/a/log'],
    ...['namespaces/a', 'proxy/pods', `pods?fieldSelector=metadata.name%3D${'a'.repeat(254)}`],
  ])
    it(`rejects ${target.slice(0, 40)}`, () => expect(of(`${base}/${target}`)).to.equal(false))
  it('rejects deletions', () => expect(of(`${base}/pods`, jane, 'DELETE')).to.equal(false))
  it('rejects a caller without a credential', () => expect(of(`${base}/pods`, anonymous)).to.equal(false))
  it('rejects a caller whose name may have lost blanks', () =>
    expect(of(`${base}/pods`, { ...jane, isTrimmed: true })).to.equal(false))
})

const places = Array.from({ length: 12 }, (_, i) => `n${i}`)

function generate(seed: number) {
  const below = createRandom(seed)
  const pick = <T>(values: readonly [T, ...T[]]): T => values[below(values.length)] ?? values[0]
  const some = <T>(values: readonly [T, ...T[]]) => Array.from({ length: 1 + below(2) }, () => pick(values))
  const rule = () => ({
    verbs: some(['list', 'watch', 'get', 'delete', '*']),
    apiGroups: some(['', 'apps', '*']),
    resources: some(['pods', 'secrets', 'deployments', 'pods/log', '*/log', '*']),
    ...(below(4) === 0 ? { resourceNames: some(['x', 'y', 'pods']) } : {}),
  })
  const rules = () => Array.from({ length: below(3) }, rule)
  const names = Array.from({ length: 200 }, (_, i) => `u${i}`) as [string, ...string[]]
  const groups = Array.from({ length: 8 }, (_, i) => `g${i}`) as [string, ...string[]]
  const account = () => ({
    kind: 'ServiceAccount',
    name: pick(['ci', 'cd']),
    ...(below(2) ? { namespace: 'n1' } : {}),
  })
  const subjects = () =>
    Array.from({ length: 1 + below(12) }, () =>
      below(12) === 0 ? account() : below(5) === 0 ? groupOf(pick(groups)) : user(pick(names)),
    )
  const objects = [
    ...Array.from({ length: 10 }, (_, i) => role(`c${i}`, rules())),
    ...Array.from({ length: 30 }, (_, i) => role(`r${i % 10}`, rules(), places[below(12)])),
    ...Array.from({ length: 3 }, (_, i) => binding(`all${i}`, `ClusterRole/c${below(10)}`, subjects())),
    ...Array.from({ length: 150 }, (_, i) =>
      binding(`b${i}`, `${pick(['Role/r', 'ClusterRole/c'])}${below(11)}`, subjects(), places[below(12)]),
    ),
  ]
  const users = names.map(
    (username, i): Identity => ({
      ...jane,
      username: i % 20 === 0 ? `system:serviceaccount:n${i % 3}:ci` : username,
      groups: [pick(groups), 'system:authenticated'],
    }),
  )
  const requests = ['list', 'watch'].flatMap(verb =>
    [
      ['', 'pods', ''],
      ['', 'pods', 'x'],
      ['', 'secrets', 'y'],
      ['apps', 'deployments', ''],
    ].map(([group = '', resource = '', name = '']) => toResourceInfo({ verb, group, resource, name })),
  )
  return { objects, users, requests }
}

function specOf({ username, groups }: Identity, info: RequestInfo, namespace: string) {
  const { verb, group, resource, name } = info
  return { user: username, groups, resourceAttributes: { verb, group, resource, name, namespace } }
}

/** Evaluates RBAC independently, without an index. */
function allowsByRbac(objects: readonly KubeObject[], spec: Readonly<Record<string, unknown>>): boolean {
  const asked = fieldsOf(spec.resourceAttributes)
  const namespace = textOf(asked.namespace)
  const isHere = ({ metadata }: KubeObject) => (metadata.namespace ?? '') === namespace
  return objects
    .filter(each => each.kind === 'ClusterRoleBinding' || (each.kind === 'RoleBinding' && isHere(each)))
    .filter(({ subjects, metadata }) =>
      itemsOf(subjects).some(subject => {
        const { kind, name, namespace: own = metadata.namespace } = fieldsOf(subject)
        if (kind === 'Group') return itemsOf(spec.groups).includes(name)
        if (kind === 'User') return spec.user === name
        return own !== undefined && spec.user === `system:serviceaccount:${own}:${name}`
      }),
    )
    .some(({ roleRef, metadata }) => {
      const { kind, name } = fieldsOf(roleRef)
      const found = objects.filter(each => each.kind === kind && each.metadata.name === name)
      const bound = found.filter(
        each => kind === 'ClusterRole' || each.metadata.namespace === metadata.namespace,
      )
      return bound.some(({ rules }) => itemsOf(rules).some(rule => ruleMatches(fieldsOf(rule), asked)))
    })
}

function ruleMatches(
  rule: Readonly<Record<string, unknown>>,
  asked: Readonly<Record<string, unknown>>,
): boolean {
  const has = (list: unknown, value: unknown) =>
    itemsOf(list).includes('*') || itemsOf(list).includes(value ?? '')
  const names = itemsOf(rule.resourceNames)
  return (
    has(rule.verbs, asked.verb) &&
    has(rule.apiGroups, asked.group) &&
    has(rule.resources, asked.resource) &&
    (names.length === 0 || names.includes(asked.name))
  )
}
