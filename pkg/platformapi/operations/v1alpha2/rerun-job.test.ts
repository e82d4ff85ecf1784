import { expect } from 'chai'
import { renderKube } from '../../../apierrors/render-kube.ts'
import { Status } from '../../../apierrors/status.ts'
import { type Loopback, startLoopback, toExchange } from '../../../apirequest/fixtures.ts'
import { parseExactly } from '../../../json/parse-exactly.ts'
import { stringifyExactly } from '../../../json/stringify.ts'
import { fieldsOf, itemsOf } from '../../../kubeclient/object/object.ts'
import { createOperations } from './serve.ts'

const jobs = '/apis/batch/v1/namespaces/shop/jobs'
const run = { 'controller-uid': 'u1', 'batch.kubernetes.io/controller-uid': 'u1', 'job-name': 'import' }
const stored = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: {
    ...{ name: 'import', namespace: 'shop', uid: 'u1', resourceVersion: '7', generation: 1 },
    creationTimestamp: '2031-01-01T00:00:00Z',
    labels: { app: 'shop', ...run },
    annotations: { revisions: '{"1":{"status":"running"}}' },
    ownerReferences: [{ kind: 'CronJob', name: 'nightly', uid: 'u2' }],
  },
  spec: {
    parallelism: 2,
    selector: { matchLabels: { 'controller-uid': 'u1' } },
    template: { metadata: { labels: { app: 'shop', ...run } }, spec: { containers: [] } },
  },
  status: { succeeded: 1 },
}
const again = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: {
    ...{ name: 'import', namespace: 'shop', ownerReferences: stored.metadata.ownerReferences },
    labels: { app: 'shop' },
    annotations: { revisions: '{"1":{"status":"unfinished"}}' },
  },
  spec: { parallelism: 2, template: { metadata: { labels: { app: 'shop' } }, spec: { containers: [] } } },
}
const manual = { manualSelector: true, selector: { matchLabels: { app: 'shop' } } }

describe('POST …/jobs/{job}?action=rerun', () => {
  let loopback: Loopback
  let calls: { method: string; path: string; body?: unknown }[] = []
  let job: object = stored
  /** The Job that kube-apiserver returns for this name after the deletion. */
  let now: object = stored
  /** The errors of kube-apiserver, by the number of the write. */
  let rejections = new Map<number, Status>()

  before(async () => {
    const operations = createOperations({
      groupDomain: 'kapis.io',
      async callAs(_exchange, { method = 'GET', path, body }) {
        if (method === 'GET') return { code: 200, text: stringifyExactly(calls.length === 0 ? job : now) }
        calls.push({ method, path, body: parseExactly(stringifyExactly(body)) })
        const rejection = rejections.get(calls.length)
        if (rejection !== undefined) throw rejection
        return { code: 201, text: '{}' }
      },
    })
    loopback = await startLoopback(async (req, res) => {
      try {
        await operations.serve(toExchange(req, res))
      } catch (error) {
        renderKube(res, error)
      }
    })
  })
  after(() => loopback.close())
  beforeEach(() => {
    calls = []
    job = stored
    now = stored
    rejections = new Map()
  })

  const post = async (query: string, path = 'namespaces/shop/jobs/import', method = 'POST') => {
    const url = `http://127.0.0.1:${loopback.port}/kapis/operations.kapis.io/v1alpha2/${path}${query}`
    const response = await fetch(url, { method })
    const body: unknown = await response.json()
    const { message, details } = fieldsOf(body)
    return [response.status, message, ...(details === undefined ? [] : [details])]
  }
  const rerun = '?action=rerun&resourceVersion=7'

  it('creates the Job in a dry run, deletes it and creates it, without fields of its previous run', async () => {
    expect(await post(rerun)).to.deep.equal([200, 'success'])
    const { name: _, ...metadata } = again.metadata
    expect(calls).to.deep.equal([
      {
        ...{ method: 'POST', path: `${jobs}?dryRun=All` },
        body: { ...again, metadata: { ...metadata, generateName: 'rerun-' } },
      },
      {
        ...{ method: 'DELETE', path: `${jobs}/import` },
        body: {
          ...{ apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' },
          preconditions: { uid: 'u1', resourceVersion: '7' },
        },
      },
      { method: 'POST', path: jobs, body: again },
    ])
  })

  it('preserves integers that a number would round', async () => {
    const activeDeadlineSeconds = 9223372036854775807n
    job = { ...stored, spec: { ...stored.spec, activeDeadlineSeconds } }
    await post(rerun)
    expect(calls[2]).to.have.deep.nested.property('body.spec.activeDeadlineSeconds', activeDeadlineSeconds)
  })

  it('preserves a manual selector', async () => {
    job = { ...stored, spec: { ...stored.spec, ...manual } }
    await post(rerun)
    expect(calls[2]).to.have.deep.nested.property('body.spec.selector', manual.selector)
    expect(calls[2]).to.have.deep.nested.property(
      'body.spec.template.metadata.labels',
      stored.spec.template.metadata.labels,
    )
  })

  it('deletes no Job that could not be created again', async () => {
    rejections.set(1, new Status(403, 'Forbidden', 'exceeded quota'))
    expect(await post(rerun)).to.deep.equal([403, 'exceeded quota'])
    expect(calls).to.have.lengthOf(1)
  })

  it('waits until the old Job is deleted', async () => {
    rejections.set(3, new Status(409, 'AlreadyExists', 'object is being deleted'))
    expect(await post(rerun)).to.deep.equal([200, 'success'])
    expect(calls.map(({ method }) => method)).to.deep.equal(['POST', 'DELETE', 'POST', 'POST'])
  })

  it('creates the Job although kube-apiserver does not respond for a moment', async () => {
    rejections.set(3, new Status(503, 'ServiceUnavailable', 'kube-apiserver is not responding'))
    expect(await post(rerun)).to.deep.equal([200, 'success'])
    expect(calls.at(-1)).to.deep.equal({ method: 'POST', path: jobs, body: again })
  })

  it('accepts a Job that an earlier attempt without a response has created', async () => {
    now = { ...stored, metadata: { ...stored.metadata, uid: 'u3' } }
    rejections.set(3, new Status(504, 'Timeout', 'timeout'))
    rejections.set(4, new Status(409, 'AlreadyExists', 'jobs.batch "import" already exists'))
    expect(await post(rerun)).to.deep.equal([200, 'success'])
    expect(calls).to.have.lengthOf(4)
  })

  it('returns the Job in the error when the creation fails after all', async () => {
    rejections.set(3, new Status(403, 'Forbidden', 'no'))
    const [code, message, details] = await post(rerun)
    expect([code, message]).to.deep.equal([
      403,
      'no: the Job was deleted, and not created again: details.causes contains the Job as JSON',
    ])
    const [cause] = itemsOf(fieldsOf(details).causes).map(fieldsOf)
    expect([cause?.reason, JSON.parse(String(cause?.message))]).to.deep.equal(['Deleted', again])
  })

  it('deletes nothing in a dry run', async () => {
    expect(await post(`${rerun}&dryRun=All`)).to.deep.equal([200, 'success'])
    expect(calls).to.have.lengthOf(2)
    expect(calls[0]).to.include({ method: 'POST', path: `${jobs}?dryRun=All` })
    expect(calls[1])
      .to.deep.include({ method: 'DELETE' })
      .and.have.deep.nested.property('body.dryRun', ['All'])
  })

  const conflict =
    'Operation cannot be fulfilled on jobs.batch "import": the object has been modified; please apply your changes to the latest version and try again'
  const refused: readonly (readonly [query: string, code: number, message: string])[] = [
    ['', 400, 'invalid action "": expected rerun'],
    ['?action=stop&resourceVersion=7', 400, 'invalid action "stop": expected rerun'],
    ['?action=rerun', 400, 'resourceVersion of the Job is required'],
    ['?action=rerun&resourceVersion=6', 409, conflict],
    ['?action=rerun&resourceVersion=7&dryRun=x', 400, 'dryRun must be All, not "x"'],
  ]
  for (const [query, code, message] of refused)
    it(`${query || 'no query'} is ${code}`, async () => {
      expect((await post(query)).slice(0, 2)).to.deep.equal([code, message])
      expect(calls).to.deep.equal([])
    })

  it('serves no other action', async () => {
    expect((await post('', 'namespaces/shop/jobs'))[0]).to.equal(404)
    expect((await post(rerun, undefined, 'PUT'))[0]).to.equal(405)
  })
})
