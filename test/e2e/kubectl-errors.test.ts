import { expect } from 'chai'
import {
  collectionPath,
  group,
  kubectl,
  kubectlOutput,
  makeNamespace,
  nodeNames,
  nodes,
  sendToKube,
  tokenOf,
  uniqueName,
} from './cluster.ts'

const namespace = uniqueName('errors')

describe('errors of the aggregated API', function () {
  this.timeout(60_000)
  let first: string
  let token: string

  before(async () => {
    first = (await nodeNames())[0] ?? ''
    await makeNamespace(namespace, ['admin'])
    const subject = `--serviceaccount=${namespace}:admin`
    await kubectlOutput('create', 'clusterrolebinding', namespace, '--clusterrole=cluster-admin', subject)
    token = await tokenOf(namespace, 'admin')
  })

  after(async () => {
    await kubectl('delete', 'clusterrolebinding', namespace)
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  const commands: readonly [readonly string[], RegExp | string][] = [
    [
      ['delete', nodes, 'FIRST'],
      'Error from server (MethodNotAllowed): the server does not allow this method on the requested resource\n',
    ],
    [
      ['label', nodes, 'FIRST', 'a=b'],
      /Error from server \(MethodNotAllowed\): the server does not allow this method/,
    ],
    [['get', nodes, 'no-such-node'], `Error from server (NotFound): ${nodes} "no-such-node" not found\n`],
    [
      ['get', nodes, '--field-selector', 'spec.unschedulable=true'],
      /^Error from server \(BadRequest\): .*"spec\.unschedulable" is not a known field selector: only "metadata\.name", "metadata\.namespace"\n$/,
    ],
    [
      ['get', '--raw', `${collectionPath}/FIRST/status`],
      'Error from server (NotFound): the server could not find the requested resource\n',
    ],
    [
      ['get', '--raw', `/apis/${group}/v1alpha3/no-such-resource`],
      'Error from server (NotFound): the server could not find the requested resource\n',
    ],
  ]
  for (const [args, expected] of commands) {
    it(`are printed by kubectl ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await kubectl(...args.map(arg => arg.replace('FIRST', first)))
      expect(code).to.equal(1)
      expect(stdout).to.equal('')
      if (typeof expected === 'string') expect(stderr).to.equal(expected)
      else expect(stderr).to.match(expected)
    })
  }

  const failure = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' }
  const notAllowed = {
    ...failure,
    message: 'the server does not allow this method on the requested resource',
    reason: 'MethodNotAllowed',
    details: {},
    code: 405,
  }
  const notFound = {
    ...failure,
    message: 'the server could not find the requested resource',
    reason: 'NotFound',
    details: {},
    code: 404,
  }
  const notAcceptable = {
    ...failure,
    message: 'only the following media types are accepted: application/json, application/yaml',
    reason: 'NotAcceptable',
    code: 406,
  }
  const bodies: readonly [string, string, Record<string, string>, object][] = [
    [
      'GET',
      '/no-such-node',
      {},
      {
        ...failure,
        message: `${nodes} "no-such-node" not found`,
        reason: 'NotFound',
        details: { name: 'no-such-node', group, kind: 'nodes' },
        code: 404,
      },
    ],
    ['GET', '/a/status', {}, notFound],
    ['GET', '/a/b/c', {}, notFound],
    ['POST', '', { 'content-type': 'application/json' }, notAllowed],
    ['PUT', '/a', { 'content-type': 'application/json' }, notAllowed],
    ['PATCH', '/a', { 'content-type': 'application/merge-patch+json' }, notAllowed],
    ['DELETE', '/a', {}, notAllowed],
    ['DELETE', '', {}, notAllowed],
    ['GET', '', { accept: 'text/html' }, notAcceptable],
    ['GET', '/a', { accept: 'application/vnd.kubernetes.protobuf' }, notAcceptable],
  ]
  for (const [method, path, headers, expected] of bodies) {
    it(`are returned for ${method} ${path || 'of the collection'} ${JSON.stringify(headers)}`, async () => {
      const response = await sendToKube(token, collectionPath + path, { method, headers })
      expect(JSON.parse(response.body)).to.deep.equal(expected)
      expect(response.code).to.equal((expected as { code: number }).code)
      expect(response.headers['content-type']).to.equal('application/json')
    })
  }

  // Errors for native nodes are the reference, whose bodies must be equal word for word.
  const sameBody = [
    'resourceVersionMatch=Exact',
    'resourceVersionMatch=Exact&resourceVersion=0',
    'resourceVersionMatch=Sometimes&resourceVersion=1',
    'sendInitialEvents=true',
    'watch=true&sendInitialEvents=true',
    'watch=true&resourceVersionMatch=NotOlderThan',
    'fieldSelector=a',
    'timeout=abc',
  ]
  for (const query of sameBody) {
    it(`?${query} has the same result as for native nodes`, async () => {
      const [own, native] = await both(query)
      expect(own).to.deep.equal(native)
    })
  }

  // Messages may differ: kube-apiserver returns those of Go parsers, and Kapis clearer ones. Code
  // and reason are equal.
  const sameReason = [
    'resourceVersion=abc',
    'resourceVersion=-1',
    'labelSelector=%21%21',
    'labelSelector=a%20in%20b',
    'limit=abc',
    'timeoutSeconds=abc&watch=true',
    'continue=abc',
  ]
  for (const query of sameReason) {
    it(`?${query} is rejected as for native nodes`, async () => {
      const [own, native] = await both(query)
      expect({ ...own, message: '' }).to.deep.equal({ ...native, message: '' })
      expect(own.message).to.be.a('string').and.not.equal('')
    })
  }

  it('?watch=true&resourceVersion=abc returns 400, where kube-apiserver returns 500', async () => {
    const own = await sendToKube(token, `${collectionPath}?watch=true&resourceVersion=abc`)
    expect(own.code).to.equal(400)
    expect(JSON.parse(own.body)).to.include({ kind: 'Status', reason: 'BadRequest', code: 400 })
  })

  /** Returns the Status bodies for nodes of the extension API and for native nodes. */
  async function both(query: string): Promise<readonly [Record<string, unknown>, Record<string, unknown>]> {
    const own = await sendToKube(token, `${collectionPath}?${query}`)
    const native = await sendToKube(token, `/api/v1/nodes?${query}`)
    expect(own.code).to.equal(native.code)
    return [JSON.parse(own.body), JSON.parse(native.body)]
  }
})
