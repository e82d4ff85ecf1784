import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import fc from 'fast-check'
import { compactJson, fieldsIn, fieldText, itemTexts, withoutField } from '../../pkg/json/fields.ts'
import { findPaths, type Steps } from '../../pkg/json/path.ts'
import { lastAppliedAnnotation as lastApplied } from '../../pkg/kubeclient/object/last-applied.ts'
import { jsonTexts } from '../../pkg/yaml/fixtures.ts'
import {
  accessToken,
  group,
  kubectl,
  kubectlOutput,
  makeNamespace,
  sendToKube,
  tokenOf,
  uniqueName,
  version,
} from './cluster.ts'
import { eventually, groupDomain, sendAs } from './http.ts'
import { createUser, loginAs, removeUser } from './oauth.ts'
import { output, setting } from './run.ts'

function findPath(json: string, steps: Steps): string | undefined {
  return findPaths(json, [steps])[0]
}

const namespace = uniqueName('exact')
const blobs = 'blobs.exact.example.com'
const count = 120

/** The JSON text of each field of an object. Fields of metadata are separate, and come first. */
type FieldTexts = ReadonlyMap<string, string>

/**
 * @param isPlatform whether to ignore selfLink and computed annotations, which the platform API
 * adds
 */
function partsOf(json: string, isPlatform = false): FieldTexts {
  const parts = new Map<string, string>()
  const others = new Map<string, string>()
  for (const { name, valueStart, end } of fieldsIn(json)) {
    if (name !== 'metadata') {
      if (name !== 'kind' && name !== 'apiVersion') others.set(name, json.slice(valueStart, end))
      continue
    }
    const metadata = json.slice(valueStart, end)
    for (const member of fieldsIn(metadata)) {
      const isAdded = member.name === 'managedFields' || (isPlatform && member.name === 'selfLink')
      if (!isAdded) parts.set(`metadata.${member.name}`, metadata.slice(member.valueStart, member.end))
    }
  }
  return new Map([...parts, ...others])
}

/** Returns the fields of objects by their names. */
function byName(objects: readonly string[], isPlatform = false): ReadonlyMap<string, FieldTexts> {
  return new Map(objects.map(json => [findPath(json, ['metadata', 'name']) ?? '', partsOf(json, isPlatform)]))
}

function expectSame(found: ReadonlyMap<string, FieldTexts>, expected: ReadonlyMap<string, FieldTexts>): void {
  expect([...found.keys()].sort()).to.deep.equal([...expected.keys()].sort())
  for (const [name, parts] of expected) {
    const other = found.get(name)
    expect([...(other?.keys() ?? [])], name).to.deep.equal([...parts.keys()])
    for (const [member, text] of parts) expect(other?.get(member), `${name} ${member}`).to.equal(text)
  }
}

const itemsOf = (list: string) => itemTexts(fieldText(list, 'items'))
const objectsOf = (events: string, type = 'ADDED') =>
  events
    .split('\n')
    .filter(line => line.startsWith(`{"type":"${type}"`))
    .map(line => fieldText(line, 'object'))

describe('values stored in kube-apiserver', function () {
  this.timeout(120_000)
  let kubeToken = ''
  let token = ''
  let pods: ReadonlyMap<string, FieldTexts>
  let custom: ReadonlyMap<string, FieldTexts>
  let maps: ReadonlyMap<string, FieldTexts>
  const native = async (path: string) => byName(itemsOf((await sendToKube(kubeToken, path)).body))
  const resources = (plural: string) => `/kapis/${group}/${version}/namespaces/${namespace}/${plural}`
  const blobsPath = `/kapis/exact.example.com/v1/namespaces/${namespace}/blobs`
  const extension = (plural: string) => `/apis/${group}/${version}/namespaces/${namespace}/${plural}`

  async function post(path: string, body: string): Promise<void> {
    const headers = { 'content-type': 'application/json' }
    const response = await sendToKube(kubeToken, path, { method: 'POST', headers, body })
    if (response.code !== 201) throw new Error(`${response.code} ${response.body}`)
  }

  before(async () => {
    await makeNamespace(namespace, ['default', 'writer'])
    await kubectlOutput(
      ...['create', 'clusterrolebinding', namespace, '--clusterrole=cluster-admin'],
      `--serviceaccount=${namespace}:writer`,
    )
    kubeToken = await tokenOf(namespace, 'writer')
    token = await accessToken()
    const schema = {
      type: 'object',
      properties: { spec: { 'x-kubernetes-preserve-unknown-fields': true } },
      'x-kubernetes-preserve-unknown-fields': true,
    }
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: blobs },
      spec: {
        group: 'exact.example.com',
        names: { kind: 'Blob', plural: 'blobs', singular: 'blob', listKind: 'BlobList' },
        scope: 'Namespaced',
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    }
    await output('kubectl', ['apply', '-f', '-'], { stdin: JSON.stringify(definition) })
    await kubectlOutput('wait', '--for=condition=Established', `crd/${blobs}`, '--timeout=30s')
    const collection = `/apis/exact.example.com/v1/namespaces/${namespace}/blobs`
    const specs = [
      ...fc.sample(jsonTexts, { numRuns: count, seed: 5 }),
      '{"n":9007199254740993,"f":1.0,"e":1e3,"z":-0,"b":1,"10":2,"9":3,"t":"\\u003c\\u2028>&"}',
      '{"__proto__":{"a":1},"constructor":{"prototype":1},"kind":9223372036854775807,"metadata":{"name":"other"}}',
      JSON.stringify('large enough to be compressed '.repeat(5_000)),
      `${'{"a":['.repeat(400)}9007199254740993${']}'.repeat(400)}`,
    ]
    const make = ([i, spec]: readonly [number, string]) => {
      const metadata = `{"name":"b${i}","annotations":{"b":"\\u003c${i}>\\u2028","10":"x","9":""}}`
      const apiVersion = '"exact.example.com/v1"'
      const head = `"apiVersion":${apiVersion},"kind":"Blob","metadata":${metadata}`
      return post(collection, `{"alpha":${spec},${head},"spec":${spec},"z":[1.0]}`)
    }
    const numbered = [...specs.entries()]
    for (let i = 0; i < numbered.length; i += 10) await Promise.all(numbered.slice(i, i + 10).map(make))
    for (const [i, text] of [
      'a\u2028kind: Secret',
      '\u0085\u007f\ufeff',
      '<&>',
      'no',
      '12:30:45',
      '="x',
    ].entries()) {
      const data = { b: text, '10': text, '9': 'a\nb\n' }
      const metadata = {
        name: `m${i}`,
        annotations: { text, long: text.repeat(1_000) },
        labels: { constructor: 'x' },
      }
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data, binaryData: { x: 'AA==' } }
      await post(`/api/v1/namespaces/${namespace}/configmaps`, JSON.stringify(object))
    }
    const spec =
      '{"terminationGracePeriodSeconds":9007199254740993,"activeDeadlineSeconds":2147483647,"nodeName":"worker-1","containers":[{"name":"a","image":"b"}]}'
    for (const name of ['p1', 'p2']) {
      const metadata = `{"name":"${name}","annotations":{"text":"\\u003c\\u2028kind: Secret"}}`
      await post(
        `/api/v1/namespaces/${namespace}/pods`,
        `{"apiVersion":"v1","kind":"Pod","metadata":${metadata},"spec":${spec.replace('993', name === 'p1' ? '993' : '995')}}`,
      )
    }
    custom = await native(collection)
    maps = await native(`/api/v1/namespaces/${namespace}/configmaps`)
    await eventually(async () => {
      // Repeated: the simulated kubelet writes the status once, after the pods were created.
      pods = await native(`/api/v1/namespaces/${namespace}/pods`)
      expectSame(byName(itemsOf((await sendAs(token, resources('pods'))).body), true), pods)
    }, 30_000)
    expect(custom.size).to.equal(specs.length)
  })

  after(async () => {
    await kubectl('delete', 'crd', blobs, '--wait=false')
    await kubectl('delete', 'clusterrolebinding', namespace)
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  it('have the same bytes in lists of custom resources and ConfigMaps, and in single objects', async () => {
    expectSame(byName(itemsOf((await sendAs(token, blobsPath)).body), true), custom)
    expectSame(byName(itemsOf((await sendAs(token, resources('blobs'))).body), true), custom)
    for (const path of [resources('configmaps'), `/kapi/v1/namespaces/${namespace}/configmaps`]) {
      expectSame(byName(itemsOf((await sendAs(token, path)).body), true), maps)
    }
    for (const i of [0, count, count + 1, count + 3]) {
      const shown = [(await sendAs(token, `${blobsPath}/b${i}`)).body]
      const expected = new Map([...custom].filter(([name]) => name === `"b${i}"`))
      expectSame(byName(shown, true), expected)
    }
  })

  it('have the same bytes in compressed lists, pages and older states', async () => {
    expectSame(byName(itemsOf(await gunzipped(token, blobsPath)), true), custom)
    const pages = await Promise.all(
      [1, 2, 3, 4].map(page => sendAs(token, `${blobsPath}?limit=40&page=${page}&sortBy=name`)),
    )
    expectSame(
      byName(
        pages.flatMap(({ body }) => itemsOf(body)),
        true,
      ),
      custom,
    )
    const { body } = await sendAs(token, blobsPath)
    const at = JSON.parse(fieldText(fieldText(body, 'metadata'), 'resourceVersion'))
    await kubectlOutput('-n', namespace, 'annotate', 'blob', 'b0', 'touched=yes')
    await eventually(async () => {
      expect((await sendAs(token, `${blobsPath}/b0`)).body).to.contain('touched')
    }, 10_000)
    const exact = `${blobsPath}?resourceVersion=${at}&resourceVersionMatch=Exact`
    expectSame(byName(itemsOf((await sendAs(token, exact)).body), true), custom)
    custom = await native(`/apis/exact.example.com/v1/namespaces/${namespace}/blobs`)
  })

  it('have the same bytes with managedFields', async () => {
    const { body } = await sendAs(token, `${blobsPath}?managedFields=true`)
    const expected = await sendToKube(kubeToken, `/apis/exact.example.com/v1/namespaces/${namespace}/blobs`)
    const managed = (list: string) =>
      itemsOf(list)
        .map(json => findPath(json, ['metadata', 'managedFields']))
        .sort()
    expect(managed(body)).to.deep.equal(managed(expected.body))
  })

  it('have the same bytes in watches, including initial events', async () => {
    for (const query of [
      'watch=true&timeoutSeconds=2',
      'watch=true&timeoutSeconds=2&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
    ]) {
      const { body } = await sendAs(token, `${blobsPath}?${query}`)
      expectSame(byName(objectsOf(body), true), custom)
      expectSame(byName(objectsOf((await sendAs(token, `${extension('pods')}?${query}`)).body)), pods)
    }
  })

  it('have the same bytes in the extension API: lists, chunks, objects, Tables, metadata only', async () => {
    const send = (path: string, accept = 'application/json') =>
      sendToKube(kubeToken, path, { headers: { accept } }).then(({ body }) => body)
    expectSame(byName(itemsOf(await send(extension('pods')))), pods)
    expectSame(byName([await send(`${extension('pods')}/p1`), await send(`${extension('pods')}/p2`)]), pods)
    expectSame(byName(itemsOf(await send(`${extension('pods')}?pretty=1`)).map(compactJson)), pods)
    const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const rows = itemTexts(fieldText(await send(`${extension('pods')}?includeObject=Object`, table), 'rows'))
    expectSame(byName(rows.map(row => fieldText(row, 'object'))), pods)
    const metadata = new Map(
      [...pods].map(([name, parts]) => [
        name,
        new Map([...parts].filter(([member]) => member.includes('.'))),
      ]),
    )
    const partial = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
    expectSame(byName(itemsOf(await send(extension('pods'), partial))), metadata)
  })

  it('have the same value in YAML for kubectl, and no text changes the YAML structure', async () => {
    const headers = { accept: 'application/yaml' }
    for (const name of ['p1', 'p2']) {
      const { body } = await sendToKube(kubeToken, `${extension('pods')}/${name}`, { headers })
      // kubectl knows the kind Pod of v1 without discovery.
      const stdin = body.replace(/^apiVersion: .*$/m, 'apiVersion: v1')
      const args = ['annotate', '--local', '-o', 'json', '-f', '-', 'x=y']
      const read = await output('kubectl', args, { stdin })
      expect(read.replaceAll(/\s/g, '')).to.contain(
        `"terminationGracePeriodSeconds":900719925474099${name === 'p1' ? 3 : 5}`,
      )
      expect(JSON.parse(read)).to.deep.include({ kind: 'Pod' })
      expect(JSON.parse(read).metadata.annotations.text).to.equal('<\u2028kind: Secret')
    }
  })

  it('have the same bytes in users and their sessions', async () => {
    const iam = `iam.${groupDomain}`
    const user = { username: uniqueName('exact'), password: 'Correct horse 1' }
    await createUser(user)
    await kubectlOutput('annotate', 'users', user.username, 'b=<\u2028>', '10=x', '9=')
    await loginAs(user)
    const label = `labelSelector=${encodeURIComponent(`${iam}/user-ref`)}%3D${user.username}`
    await eventually(async () => {
      const records = await native(`/apis/${iam}/v1alpha2/loginrecords?${label}`)
      expect(records.size).to.equal(1)
      const path = `/kapis/${iam}/v1alpha2/users/${user.username}`
      expectSame(byName(itemsOf((await sendAs(token, `${path}/loginrecords`)).body)), records)
      const { body } = await sendToKube(kubeToken, `/apis/${iam}/v1alpha2/users/${user.username}`)
      const hidden = ['spec', 'metadata.annotations']
      const parts = ([name, json]: readonly [string, string]) =>
        [name, new Map([...partsOf(json, true)].filter(([member]) => !hidden.includes(member)))] as const
      const shown = await sendAs(token, path)
      // A user without a state is shown as active.
      const active = body.replace(/("lastLoginTime":"[^"]*")/, '$1,"state":"Active"')
      expectSame(new Map([parts(['user', shown.body])]), new Map([parts(['user', active])]))
      const annotations = (json: string) =>
        findPath(withoutField(json, ['metadata', 'annotations', lastApplied]), ['metadata', 'annotations'])
      // The annotation is added for consoles, and not stored.
      const role = ['metadata', 'annotations', `${iam}/globalrole`]
      expect(annotations(withoutField(shown.body, role)))
        .to.equal(annotations(body))
        .and.match(/^\{"10":"x","9":"","b":"\\u003c/)
    }, 10_000)
    await removeUser(user.username)
  })

  it('are found, sorted and projected with all digits', async () => {
    const names = async (query: string) =>
      itemsOf((await sendAs(token, `${resources('pods')}?${query}`)).body).map(json =>
        JSON.parse(findPath(json, ['metadata', 'name']) ?? ''),
      )
    const seconds = 'spec.terminationGracePeriodSeconds'
    expect(await names(`fieldSelector=${seconds}%3D9007199254740993`)).to.deep.equal(['p1'])
    expect(await names(`fieldSelector=${seconds}%3D9007199254740992`)).to.deep.equal([])
    expect(await names(`fieldSelector=${seconds}%21%3D9007199254740993`)).to.deep.equal(['p2'])
    expect(await names(`sortBy=.${seconds}&ascending=true`)).to.deep.equal(['p1', 'p2'])
    expect(await names(`sortBy=.${seconds}&ascending=false`)).to.deep.equal(['p2', 'p1'])
    const { body } = await sendAs(token, `${resources('pods')}?fields=${seconds}&sortBy=name&ascending=true`)
    expect(itemsOf(body)).to.deep.equal([
      '{"spec":{"terminationGracePeriodSeconds":9007199254740993}}',
      '{"spec":{"terminationGracePeriodSeconds":9007199254740995}}',
    ])
  })
})

async function gunzipped(token: string, path: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip' }
  const options = { headers, ca: readFileSync(setting('KAPIS_CA')), agent: false }
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request(new URL(path, setting('KAPIS_URL')), options, resolve)
    .on('error', reject)
    .end()
  const res = await promise
  expect(res.headers['content-encoding']).to.equal('gzip')
  return gunzipSync(Buffer.concat(await res.toArray())).toString('utf8')
}
