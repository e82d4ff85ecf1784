import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { renderKube } from '../../apierrors/render-kube.ts'
import { type Loopback, startLoopback, toExchange } from '../../apirequest/fixtures.ts'
import type { ServedGroup } from '../discovery/served-group.ts'
import { createOpenApi } from './openapi.ts'
import { toSwagger } from './openapi-v2.ts'
import { toOpenApi3 } from './openapi-v3.ts'
import { array, object, ref, type Schemas } from './schema/schema.ts'

const served: ServedGroup = {
  group: 'resources.example.io',
  version: 'v1alpha3',
  resources: [
    { plural: 'nodes', singular: 'node', kind: 'Node', namespaced: false },
    { plural: 'widgets', singular: 'widget', kind: 'Widget', namespaced: true },
    { plural: 'reviews', singular: 'review', kind: 'Review', namespaced: false, verbs: ['create'] },
  ],
  schemas: {
    Review: object('A question.', { spec: ref('ReviewSpec') }),
    ReviewSpec: object('Its spec.', {}),
  },
}
const known: Schemas = {
  Node: object('A machine.', { spec: ref('NodeSpec', 'How it is meant to be.') }),
  NodeSpec: {
    ...object('The spec.', {
      ports: { ...array('Ports.', ref('Port')), limits: { maxItems: 3 } },
      first: { ...ref('Port'), default: 1, nullable: true, extensions: { 'x-own': true } },
    }),
    extensions: { 'x-kubernetes-map-type': 'atomic' },
  },
  Port: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
}
const root = '/apis/resources.example.io/v1alpha3'
const prefix = 'io.example.resources.v1alpha3.'
const v3Path = `/openapi/v3${root}`

describe('createOpenApi', () => {
  let present = known
  const openApi = createOpenApi([served], async () => present)
  let server: Loopback
  before(async () => {
    server = await startLoopback(async (req, res) => {
      try {
        await openApi.handle(toExchange(req, res))
      } catch (error) {
        renderKube(res, error)
      }
    })
  })
  after(() => server.close())

  it('lists only its own API groups in the version 3 index', async () => {
    const document = await server.get(v3Path)
    const hash = (document.headers.etag ?? '').slice(1, -1)
    expect(hash).to.match(/^[0-9A-F]{128}$/)
    const { code, headers, body } = await server.get('/openapi/v3')
    expect(code).to.equal(200)
    expect(headers['content-type']).to.equal('application/json')
    const serverRelativeURL = `${v3Path}?hash=${hash}`
    expect(JSON.parse(body.toString())).to.deep.equal({
      paths: { 'apis/resources.example.io/v1alpha3': { serverRelativeURL } },
    })
    const cached = await server.get(serverRelativeURL)
    expect(cached.headers).to.include({ 'cache-control': 'public, immutable', etag: `"${hash}"` })
    expect(Date.parse(cached.headers.expires ?? '')).to.be.greaterThan(Date.now() + 300 * 86_400_000)
    expect(cached.body.equals(document.body)).to.equal(true)
  })

  it('serves the current document for an outdated hash, without a redirect', async () => {
    const { code, headers, body } = await server.get(`${v3Path}?hash=OLD`)
    expect(code).to.equal(200)
    expect(headers).to.include({ 'cache-control': 'no-cache, private' }).and.not.have.property('location')
    expect(JSON.parse(body.toString())).to.have.property('openapi', '3.0.0')
  })

  it('is rebuilt when the schemas have changed, and only then', async () => {
    const before = await server.get('/openapi/v3')
    expect((await server.get('/openapi/v3')).body.equals(before.body)).to.equal(true)
    present = { Widget: object('Another.', {}) }
    const after = await server.get('/openapi/v3')
    expect(after.headers.etag).to.not.equal(before.headers.etag)
    expect((await server.get(v3Path)).body.toString()).to.include('Another.')
    present = known
  })

  it('compresses documents, with a separate ETag', async () => {
    const plain = await server.get('/openapi/v2')
    const small = await server.get('/openapi/v2', { headers: { 'accept-encoding': 'gzip' } })
    expect(small.headers).to.include({ 'content-encoding': 'gzip', vary: 'Accept, Accept-Encoding' })
    expect(small.headers.etag).to.not.equal(plain.headers.etag)
    expect(gunzipSync(small.body).equals(plain.body)).to.equal(true)
    for (const etag of [plain.headers.etag, small.headers.etag]) {
      const again = await server.get('/openapi/v2', { headers: { 'if-none-match': etag ?? '' } })
      expect([again.code, again.body.length]).to.deep.equal([304, 0])
    }
  })

  const protobufs = [
    'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
    'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
    'text/html',
  ]
  for (const accept of protobufs) {
    it(`rejects ${accept}, unless JSON is also accepted`, async () => {
      const { code, body } = await server.get('/openapi/v2', { headers: { accept } })
      expect(code).to.equal(406)
      expect(JSON.parse(body.toString())).to.include({
        message: 'only the following media types are accepted: application/json',
        reason: 'NotAcceptable',
      })
      expect(
        await server.get('/openapi/v2', { headers: { accept: `${accept},application/json` } }),
      ).to.include({
        code: 200,
      })
    })
  }

  it('accepts only GET, on its own paths', async () => {
    expect(await server.get('/openapi/v3', { method: 'POST' })).to.include({ code: 405 })
    for (const path of ['/openapi', '/openapi/v4', '/openapi/v3/apis/apps/v1']) {
      expect(openApi.handles(path), path).to.equal(false)
    }
  })
})

// The keywords of Swagger 2.0 at each level: the parser of kube-apiserver only accepts these and
// x-*.
const swaggerKeys = {
  document: ['swagger', 'info', 'paths', 'definitions'],
  operation: 'tags description operationId consumes produces schemes parameters responses deprecated'.split(
    ' ',
  ),
  parameter: ['schema', 'name', 'in', 'type', 'description', 'uniqueItems', 'required'],
  schema: 'type format description enum required properties items additionalProperties $ref maxItems'.split(
    ' ',
  ),
}
const paths = [
  `${root}/nodes`,
  `${root}/nodes/{name}`,
  `${root}/watch/nodes`,
  `${root}/watch/nodes/{name}`,
  `${root}/namespaces/{namespace}/widgets`,
  `${root}/namespaces/{namespace}/widgets/{name}`,
  `${root}/widgets`,
  `${root}/watch/namespaces/{namespace}/widgets`,
  `${root}/watch/namespaces/{namespace}/widgets/{name}`,
  `${root}/watch/widgets`,
  `${root}/reviews`,
]

describe('toSwagger', () => {
  const swagger = toSwagger([served], known, 'Test')

  it('contains the paths of every resource and verb', () => {
    expect(swagger.paths).to.have.all.keys(paths)
    expect(swagger.swagger).to.equal('2.0')
  })

  it('uses only keys that Swagger 2 defines', () => {
    expect(swagger).to.have.all.keys(swaggerKeys.document)
    for (const operation of Object.values(swagger.paths).flatMap(item => Object.values(item))) {
      expect(unknownKeys(operation, swaggerKeys.operation)).to.deep.equal([])
      for (const parameter of operation.parameters)
        expect(unknownKeys(parameter, swaggerKeys.parameter)).to.deep.equal([])
    }
    for (const definition of Object.values(swagger.definitions)) checkSchema(definition)
  })

  it('uses string where version 3 has oneOf', () => {
    expect(swagger.definitions[`${prefix}Port`]).to.deep.equal({ format: 'int-or-string', type: 'string' })
  })

  it('omits defaults and nullable, as kube-apiserver does', () => {
    const first = { $ref: `#/definitions/${prefix}Port`, 'x-own': true }
    expect(swagger.definitions[`${prefix}NodeSpec`].properties.first).to.deep.equal(first)
  })

  it('defines everything that it references, and nothing else', () => {
    const used = refsIn(swagger, '#/definitions/')
    expect(Object.keys(swagger.definitions).filter(name => !used.has(name))).to.deep.equal([])
    expect([...used].filter(name => !(name in swagger.definitions))).to.deep.equal([])
    for (const name of used) expect(name).to.match(/^io\.example\.resources\.v1alpha3\.[A-Z]\w+$/)
  })
})

describe('toOpenApi3', () => {
  const document = toOpenApi3(served, known, 'Test')

  it('has what kubectl explain needs for each kind: path, group-version-kind, schema', () => {
    const get = document.paths[`${root}/nodes`]?.get
    const groupVersionKind = { group: 'resources.example.io', kind: 'Node', version: 'v1alpha3' }
    expect(get).to.deep.include({
      'x-kubernetes-group-version-kind': groupVersionKind,
      'x-kubernetes-action': 'list',
    })
    expect(document.components.schemas[`${prefix}Node`]).to.deep.include({
      'x-kubernetes-group-version-kind': [groupVersionKind],
    })
  })

  it('contains kinds that are created but never stored, without a list', () => {
    const review = { schema: { $ref: `#/components/schemas/${prefix}Review` } }
    const content = { 'application/json': review, 'application/yaml': review }
    const { get, post } = document.paths[`${root}/reviews`] ?? {}
    expect(get).to.equal(undefined)
    expect(post).to.deep.include({
      operationId: 'createResourcesExampleIoV1alpha3Review',
      'x-kubernetes-action': 'post',
      requestBody: { required: true, content },
    })
    expect(post?.responses).to.have.property('201').that.deep.includes({ content })
    const names = Object.keys(document.components.schemas)
    expect(names).to.include.members([`${prefix}Review`, `${prefix}ReviewSpec`])
    expect(names).to.not.include(`${prefix}ReviewList`)
  })

  it('describes nodes, and skips unknown kinds', () => {
    expect(document.components.schemas[`${prefix}NodeSpec`]).to.deep.equal({
      type: 'object',
      description: 'The spec.',
      properties: {
        ports: {
          type: 'array',
          description: 'Ports.',
          maxItems: 3,
          items: { $ref: `#/components/schemas/${prefix}Port` },
        },
        first: {
          default: 1,
          nullable: true,
          allOf: [{ $ref: `#/components/schemas/${prefix}Port` }],
          'x-own': true,
        },
      },
      'x-kubernetes-map-type': 'atomic',
    })
    expect(document.components.schemas[`${prefix}Port`]).to.deep.equal(known.Port)
    expect(document.components.schemas[`${prefix}Widget`]).to.deep.include({
      description: 'An object of kind Widget.',
      'x-kubernetes-preserve-unknown-fields': true,
    })
  })

  it('references only existing schemas', () => {
    const used = refsIn(document, '#/components/schemas/')
    expect([...used].filter(name => !(name in document.components.schemas))).to.deep.equal([])
  })

  it('gives each operation a unique ID', () => {
    const ids = Object.values(document.paths).flatMap(item =>
      Object.values(item).map(({ operationId }) => operationId),
    )
    expect(new Set(ids).size).to.equal(paths.length)
    expect(ids).to.include.members([
      'listResourcesExampleIoV1alpha3Node',
      'readResourcesExampleIoV1alpha3Node',
    ])
  })
})

function unknownKeys(value: object, known: readonly string[]): readonly string[] {
  return Object.keys(value).filter(key => !known.includes(key) && !key.startsWith('x-'))
}

function checkSchema(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) throw new Error('a schema is not an object')
  expect(unknownKeys(schema, swaggerKeys.schema)).to.deep.equal([])
  const { properties = {}, items, additionalProperties }: Record<string, object> = { ...schema }
  for (const inner of [...Object.values(properties ?? {}), items, additionalProperties]) {
    if (inner !== undefined) checkSchema(inner)
  }
}

function refsIn(value: unknown, start: string): Set<string> {
  const found = JSON.stringify(value).matchAll(/"\$ref":"([^"]+)"/g)
  return new Set([...found].map(([, ref = '']) => (ref.startsWith(start) ? ref.slice(start.length) : ref)))
}
