import { join } from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { isStatus } from '../../pkg/apierrors/status.ts'
import type { RequestInfo } from '../../pkg/apirequest/request-info.ts'
import { parseLine, type RequestLine } from '../../pkg/apirequest/request-line.ts'
import { buildGo, goBuildTimeoutMs, hasGo } from '../e2e/go-program.ts'
import { output, scratch } from '../e2e/run.ts'

/** RequestInfo of k8s.io/apiserver as JSON; Go encodes an empty list as null. */
type KubeInfo = {
  readonly IsResourceRequest: boolean
  readonly Path: string
  readonly Verb: string
  readonly APIPrefix: string
  readonly APIGroup: string
  readonly APIVersion: string
  readonly Namespace: string
  readonly Resource: string
  readonly Subresource: string
  readonly Name: string
  readonly FieldSelector: string
  readonly LabelSelector: string
}
type SentTarget = { readonly method: string; readonly target: string }

const requests = 20_000
const reading = new Set(['get', 'list', 'watch'])
const methods = ['GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY']
const joined = (words: readonly string[], maxLength: number, by = '') =>
  fc.array(fc.constantFrom(...words), { maxLength }).map(parts => parts.join(by))

const segments = [
  ...['api', 'apis', 'kapis', 'v1', 'v1alpha3', 'g.io', 'namespaces', 'namespaces', 'ns', 'pods', 'nodes'],
  ...[
    'p',
    'watch',
    'proxy',
    'status',
    'finalize',
    'w%61tch',
    'n%61mespaces',
    'a%20b',
    'a+b',
    'a;b',
    'ö',
    '%C3%B6',
    '',
  ],
]
const roots = ['/api/v1/', '/apis/g.io/v1/', '/kapis/g.io/v1/', '/api/v1/watch/', '/apis/g.io/v1/proxy/', '/']
// Below these paths, the rest is passed on unchanged.
const proxied = [
  'namespaces/ns/pods/p',
  'namespaces/n%61me/services/s:80',
  'nodes/n',
  'namespaces/status/pods/proxy',
].map(object => `/api/v1/${object}/proxy/`)
const ambiguous = ['..', '.', '%2e%2e', '%2F', 'a%2Fb', '%252F', '%5C', '%00']
const selectors = [
  ...['metadata.name', 'metadata.name', 'metadata.namespace', 'spec.nodeName', 'a', 'b', 'mine', 'other'],
  ...[
    '%3D',
    '=',
    '==',
    '!%3D',
    ',',
    '%2C',
    '%5C',
    '%5C,',
    '%5C%3D',
    '+',
    '%',
    '/',
    '..',
    '.',
    '%25',
    '%C3%B6',
    '!',
  ],
]
const names = [
  ...[
    'fieldSelector',
    'fieldSelector',
    '%66ieldSelector',
    'FieldSelector',
    'fieldSelector%20',
    'labelSelector',
  ],
  ...['watch', 'w%61tch', 'Watch', 'limit', 'timeoutSeconds', 'x', ''],
]
const values = fc.oneof(
  joined(selectors, 7),
  fc.constantFrom(
    'metadata.name%3Dmine',
    'metadata.name=mine',
    'true',
    '1',
    'false',
    '0',
    'False',
    '',
    'a%zz',
    'a;b=c',
  ),
  fc.constantFrom('%2B1', '-1', '1.0', '0x1', ' 1', '9223372036854775807', '9223372036854775808', '1_0'),
)
const pair = fc.tuple(fc.constantFrom(...names), values, fc.boolean()).map(
  // Parameters without a value, and with an empty value.
  ([name, value, hasValue]) => (hasValue ? `${name}=${value}` : name),
)
const query = fc.array(pair, { maxLength: 4 }).map(pairs => (pairs.length === 0 ? '' : `?${pairs.join('&')}`))
const path = fc
  .oneof(
    { weight: 4, arbitrary: fc.tuple(fc.constantFrom(...roots), joined(segments, 6, '/')) },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.constantFrom(...proxied), joined([...segments, ...ambiguous], 6, '/')),
    },
  )
  .map(parts => parts.join(''))
const asked: fc.Arbitrary<SentTarget> = fc
  .tuple(fc.constantFrom(...methods), path, query)
  .map(([method, path, search]) => ({ method, target: path + search }))

function read({ method, target }: SentTarget): RequestLine | undefined {
  try {
    return parseLine(method, target)
  } catch (error) {
    if (isStatus(error, 400)) return undefined
    throw error
  }
}

describe('RequestInfo', () => {
  it(`equals kube-apiserver's for ${requests} requests, but never has a read verb for a possible write`, async function () {
    this.timeout(goBuildTimeoutMs)
    if (!(await hasGo("kube-apiserver's reader of requests"))) this.skip()
    const program = join(scratch, 'requestinfo')
    const folder = join(import.meta.dirname, '..', 'requestinfo')
    await buildGo("kube-apiserver's reader of requests", ['build', '-o', program, '.'], folder)
    const given = fc.sample(asked, { numRuns: requests, seed: 5 })
    const stdin = given.map(request => `${JSON.stringify(request)}\n`).join('')
    const responses = (await output(program, [], { stdin })).trimEnd().split('\n')
    expect(responses.length).to.equal(given.length)
    let compared = 0
    for (const [i, request] of given.entries()) {
      const { error, info }: { error?: string; info?: KubeInfo } = JSON.parse(responses[i] ?? '')
      const line = read(request)
      // Requests that Kapis rejects are not compared.
      if (line === undefined) continue
      if (info === undefined) {
        // A deprecated prefix without a resource is not a resource request in Kapis either.
        expect(error, request.target).to.include('unable to determine kind and namespace')
        expect(line.info.isResource, request.target).to.equal(false)
        continue
      }
      compared++
      expectSame(request, line, info)
    }
    expect(compared).to.be.above(requests / 4)
  })
})

function expectSame(
  { method, target }: SentTarget,
  { info, query: parameters }: RequestLine,
  kube: KubeInfo,
): void {
  const what = `${method} ${target}`
  const isWriting = method !== 'GET' && method !== 'HEAD'
  if (isWriting) expect(reading.has(info.verb), what).to.equal(false)
  const isWrite = isWriting && kube.Verb === 'watch' && kube.IsResourceRequest
  const [verb, kubeVerb] = isWrite ? ['', ''] : [info.verb, kube.Verb]
  // In Go, bytes that are not UTF-8 remain bytes, which cannot be compared.
  const isText = parameters.problem === undefined || !parameters.problem.includes('UTF-8')
  expect({ ...attributesOf(info), verb, name: isText ? info.name : '' }, what).to.deep.equal({
    isResource: kube.IsResourceRequest,
    path: kube.Path,
    verb: kubeVerb,
    prefix: kube.IsResourceRequest ? kube.APIPrefix : info.prefix,
    group: kube.IsResourceRequest ? kube.APIGroup : '',
    version: kube.APIVersion,
    namespace: kube.Namespace,
    resource: kube.Resource,
    subresource: kube.Subresource,
    name: isText ? kube.Name : '',
  })
  if (!isText || isWrite) return
  expect([info.fieldSelector.text, info.labelSelector.text], what).to.deep.equal([
    kube.FieldSelector,
    kube.LabelSelector,
  ])
}

function attributesOf(info: RequestInfo) {
  const { isResource, path, verb, prefix, group, version, namespace, resource, subresource, name } = info
  return { isResource, path, verb, prefix, group, version, namespace, resource, subresource, name }
}
