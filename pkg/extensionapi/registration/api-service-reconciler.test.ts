import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { Writable } from 'node:stream'
import { expect } from 'chai'
import { Status } from '../../apierrors/status.ts'
import { createCa } from '../../certs/issue.ts'
import type { Call, KubeClient } from '../../kubeclient/client.ts'
import { isRecord, type KubeObject, parseObject } from '../../kubeclient/object/object.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { apiServicesPath, toApiService } from './api-service.ts'
import { type ApiServiceReconciler, createApiServiceReconciler } from './api-service-reconciler.ts'

const groupDomain = 'example.io'
const service = { namespace: 'kapis-system', name: 'kapis', port: 443 }
const name = 'v1alpha3.resources.example.io'
const discarded = new Writable({ write: (_chunk, _encoding, done) => done() })
const logger = createLogger({ program: 'test', level: 'error', destination: discarded })

describe('createApiServiceReconciler', () => {
  let keeper: ApiServiceReconciler
  let store: Store
  let caBundle: string
  let isTerminating = false
  let keepOthersMs = 0
  let goneMs = 50

  function keep(state: KubeObject | null, own = 'PEM'): void {
    store = createStore(state)
    caBundle = own
    keeper = createApiServiceReconciler({
      client: store.client,
      groupDomain,
      service,
      caBundle: () => caBundle,
      keepOthersMs,
      isTerminating: async () => isTerminating,
      goneMs,
      logger,
    })
    keeper.start()
  }

  afterEach(() => {
    isTerminating = false
    keepOthersMs = 0
    goneMs = 50
    keeper.stop()
  })

  it('creates a missing APIService', async () => {
    keep(null)
    expect(keeper.problem()).to.equal('not registered yet')
    await eventually(() => keeper.problem() === undefined)
    expect(store.writes).to.deep.equal([`POST ${apiServicesPath}`])
    expect(specOf(store)).to.deep.equal(toApiService({ groupDomain, service, caBundle }).spec)
  })

  it('does not write a correct APIService', async () => {
    keep(parseObject(stored(toApiService({ groupDomain, service, caBundle: 'PEM' }), 5)))
    await eventually(() => keeper.problem() === undefined)
    expect(store.writes).to.deep.equal([])
  })

  it('creates a deleted APIService again, and repairs a changed one', async () => {
    keep(null)
    await eventually(() => keeper.problem() === undefined)
    store.remove()
    await eventually(() => store.current() !== null)
    store.change({ versionPriority: 3 })
    await eventually(() => specOf(store).versionPriority === 100)
    expect(store.writes).to.deep.equal([
      `POST ${apiServicesPath}`,
      `POST ${apiServicesPath}`,
      `PUT ${apiServicesPath}/${name}`,
    ])
  })

  it('keeps a CA of another replica for the configured time', async () => {
    const create = (commonName: string) => createCa({ commonName, validityDays: 1, now: new Date() }).certPem
    const [own, other] = [create('own'), create('other')]
    keepOthersMs = 1_500
    keep(parseObject(stored(toApiService({ groupDomain, service, caBundle: other }), 5)), own)
    const bundle = () => Buffer.from(String(specOf(store).caBundle), 'base64').toString()
    await eventually(() => bundle().includes(other.trim()) && bundle().includes(own.trim()))
    const writes = store.writes.length
    await eventually(() => bundle() === own)
    expect(store.writes.length).to.equal(writes + 1)
  })

  it('does not create it again while Kapis is being uninstalled', async () => {
    keep(null)
    await eventually(() => keeper.problem() === undefined)
    isTerminating = true
    store.remove()
    await eventually(() => keeper.problem() !== undefined)
    expect(keeper.problem()).to.equal(
      `the APIService ${name} was deleted and Kapis is being uninstalled; it is not created again`,
    )
    expect(store.writes).to.deep.equal([`POST ${apiServicesPath}`])
  })

  it('checks for an uninstallation after a delay: its other objects are deleted later', async () => {
    goneMs = 1_000
    keep(null)
    await eventually(() => keeper.problem() === undefined)
    store.remove()
    setTimeout(() => {
      isTerminating = true
    }, 200)
    await eventually(() => keeper.problem() !== undefined)
    expect(store.writes).to.deep.equal([`POST ${apiServicesPath}`])
  })

  it('updates the CA bundle when the CA changes', async () => {
    keep(null)
    await eventually(() => keeper.problem() === undefined)
    caBundle = 'PEM\nOTHER'
    keeper.caChanged()
    await eventually(() => specOf(store).caBundle === Buffer.from(caBundle).toString('base64'))
  })

  it('waits until there is a CA', async () => {
    keep(null)
    caBundle = ''
    await eventually(() => keeper.problem() === 'the serving certificate has not been loaded yet')
    caBundle = 'PEM'
    keeper.caChanged()
    await eventually(() => keeper.problem() === undefined)
  })

  it('does not touch an APIService of another program, and creates its own when that is deleted', async () => {
    const theirs = toApiService({ groupDomain, service: { ...service, namespace: 'other' }, caBundle: 'PEM' })
    keep(parseObject(stored(theirs, 5)))
    await eventually(() => keeper.problem() !== 'not registered yet')
    expect(keeper.problem()).to.equal(
      `the APIService ${name} belongs to the Service other/kapis; delete it to let Kapis register itself`,
    )
    keeper.caChanged()
    expect(store.writes).to.deep.equal([])
    store.remove()
    await eventually(() => keeper.problem() === undefined)
  })

  it('reports why it cannot write, and retries', async () => {
    keep(null)
    store.failWith(new Status(403, 'Forbidden', 'no permission to create'))
    await eventually(() => store.writes.length > 1)
    expect(keeper.problem()).to.equal(`failed to update the APIService ${name}: no permission to create`)
    store.failWith(undefined)
    await eventually(() => keeper.problem() === undefined)
  })

  it('retries when another replica was first', async () => {
    keep(null)
    store.failWith(new Status(409, 'AlreadyExists', 'exists'))
    await eventually(() => store.writes.length > 0)
    expect(keeper.problem()).to.equal('not registered yet')
    store.failWith(undefined)
    await eventually(() => keeper.problem() === undefined)
  })

  it('waits longer while another program keeps changing it back', async () => {
    keep(null)
    await eventually(() => keeper.problem() === undefined)
    const fight = setInterval(() => store.change({ versionPriority: 3 }), 5)
    await new Promise(resolve => setTimeout(resolve, 1_500))
    clearInterval(fight)
    expect(store.writes.length).to.be.within(8, 16)
  })
})

type Store = {
  readonly client: KubeClient
  readonly writes: readonly string[]
  readonly current: () => KubeObject | null
  readonly remove: () => void
  readonly change: (spec: object) => void
  readonly failWith: (error: Status | undefined) => void
}

/** A kube-apiserver with a single APIService in memory: list, watch and conditional update. */
function createStore(initial: KubeObject | null): Store {
  let state = initial
  let version = 5
  let failure: Status | undefined
  const writes: string[] = []
  const stream = new IncomingMessage(new Socket())

  function put(type: string, object: KubeObject): KubeObject {
    stream.push(`${JSON.stringify({ type, object })}\n`)
    return object
  }

  function write({ method, path, body }: Call): KubeObject {
    writes.push(`${method} ${path}`)
    if (failure) throw failure
    const given = parseObject(stored(body, Number(state?.metadata.resourceVersion ?? 0)))
    if (method === 'POST' && state !== null) throw new Status(409, 'AlreadyExists', 'exists')
    const expected = isRecord(body) && isRecord(body.metadata) ? body.metadata.resourceVersion : undefined
    if (method === 'PUT' && expected !== state?.metadata.resourceVersion)
      throw new Status(409, 'Conflict', 'conflict')
    state = parseObject(stored(given, ++version))
    return put(method === 'POST' ? 'ADDED' : 'MODIFIED', state)
  }

  return {
    writes,
    current: () => state,
    failWith: error => {
      failure = error
    },
    remove() {
      if (state) put('DELETED', parseObject(stored(state, ++version)))
      state = null
    },
    change(spec) {
      if (state === null) return
      const changed = { ...state, spec: { ...(isRecord(state.spec) ? state.spec : {}), ...spec } }
      state = put('MODIFIED', parseObject(stored(changed, ++version)))
    },
    client: {
      async call(call) {
        return write(call)
      },
      async stream({ path }) {
        expect(path).to.include(`${apiServicesPath}?fieldSelector=metadata.name%3D${name}`)
        if (path.includes('watch=true')) return stream
        const list = { metadata: { resourceVersion: String(version) }, items: state === null ? [] : [state] }
        const response = new IncomingMessage(new Socket())
        response.push(JSON.stringify(list))
        response.push(null)
        return response
      },
      close: () => undefined,
    },
  }
}

function stored(object: unknown, version: number): unknown {
  const { metadata, ...rest }: { metadata?: object } = isRecord(object) ? object : {}
  return {
    ...rest,
    metadata: { uid: 'u', creationTimestamp: '', ...metadata, resourceVersion: String(version) },
  }
}

function specOf(store: Store): Readonly<Record<string, unknown>> {
  const spec = store.current()?.spec
  return isRecord(spec) ? spec : {}
}

async function eventually(check: () => boolean): Promise<void> {
  const until = Date.now() + 20_000
  while (!check()) {
    if (Date.now() > until) throw new Error(`timed out waiting for ${check}`)
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}
