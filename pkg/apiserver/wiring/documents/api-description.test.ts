import { Validator } from '@seriousme/openapi-schema-validator'
import { expect } from 'chai'
import { parseListQuery } from '../../../apirequest/query/list-query.ts'
import { QueryParameters } from '../../../apirequest/query/query-parameters.ts'
import { parseLogQuery } from '../../../logs/query/log-query.ts'
import { toOpenApi } from '../../../openapi/document.ts'
import { methods } from '../../../openapi/operation.ts'
import { logParameters } from '../../../platformapi/logs/description.ts'
import { publicPaths } from '../../../platformapi/public/description.ts'
import { createPublicDocuments } from '../../../platformapi/public/documents.ts'
import { listParameters } from '../../../platformapi/read/list-description.ts'
import { removedRoutePaths } from '../../../platformapi/resources/v1alpha2/removed-routes-description.ts'
import { kindFilters } from '../../../platformapi/resources/v1alpha3/description.ts'
import { plain } from '../../../resourcecache/kinds/platform.ts'
import { createKindTable } from '../../../resourcecache/kinds.ts'
import { toListPredicate } from '../../../resourcecache/list/list-predicate.ts'
import { describeApi } from './api-description.ts'

const groupDomain = 'kapis.io'
const sections = describeApi(groupDomain)
const operations = sections.flatMap(({ paths }) =>
  Object.entries(paths).flatMap(([path, row]) =>
    methods.flatMap(method => {
      const operation = row[method]
      return operation === undefined ? [] : [{ path, method, operation }]
    }),
  ),
)

function allowed(send: () => unknown): readonly string[] {
  try {
    send()
  } catch (error) {
    return /supported filters: (.*)$/.exec(String(error))?.[1]?.split(', ') ?? []
  }
  return []
}

describe('describeApi', () => {
  for (const section of sections) {
    it(`describes /${section.key} by a valid OpenAPI 3.1 document`, async () => {
      // References to documents of kube-apiserver are not resolved here.
      const isOwn = (key: string, value: unknown) => key !== '$ref' || String(value).startsWith('#')
      const text = JSON.stringify(toOpenApi(section, '1.2.3'))
      const document = JSON.parse(text, (key, value) => (isOwn(key, value) ? value : undefined))
      const { valid, errors } = await new Validator().validate(document)
      expect(valid, JSON.stringify(errors, undefined, 1)).to.equal(true)
      expect(Object.keys(section.paths)).to.not.be.empty
    })
  }

  it('describes each operation ID once', () => {
    const ids = sections.flatMap(
      section => JSON.stringify(toOpenApi(section, '')).match(/"operationId":"\w+"/g) ?? [],
    )
    expect(ids.length).to.equal(operations.length)
    expect(new Set(ids).size).to.equal(ids.length)
  })

  it('describes the segments of each path, and each parameter once', () => {
    for (const { path, method, operation } of operations) {
      const { parameters = [] } = operation
      const segments = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const described = parameters.filter(({ in: place }) => place === 'path').map(({ name }) => name)
      expect([...described].sort(), `${method} ${path}`).to.deep.equal([...segments].sort())
      const names = parameters.map(({ name, in: place }) => `${place} ${name}`)
      expect(new Set(names).size, `${method} ${path}`).to.equal(names.length)
    }
  })

  it('describes a success and the failures of every served operation', () => {
    const old = `/kapis/resources.${groupDomain}/v1alpha2`
    const replaced = new Set(Object.keys(removedRoutePaths).map(path => old + path))
    for (const { path, method, operation } of operations) {
      const codes = Object.keys(operation.responses).map(Number)
      expect(
        codes.some(code => code < 400),
        `${method} ${path}`,
      ).to.equal(!replaced.has(path))
      if (replaced.has(path)) expect(codes).to.include(404)
      expect(codes, `${method} ${path}`).to.include.members([400, 500, 503])
      if (!operation.security.includes('none')) expect(codes, `${method} ${path}`).to.include(401)
    }
  })

  it('builds every path from the API group domain', () => {
    expect(JSON.stringify(describeApi('example.com'))).to.not.include(groupDomain)
  })
})

describe('the described parameters', () => {
  it('of logs match the accepted parameters: add a row to pkg/platformapi/logs/description.ts', () => {
    const warnings: string[] = []
    parseLogQuery(new QueryParameters('no-such-parameter=1'), text => warnings.push(text))
    const taken = warnings[0]?.split('supported: ')[1]?.split(', ') ?? []
    expect(logParameters.map(({ name }) => name)).to.have.members(taken)
  })

  it('of lists match the filters of all kinds: add a row to pkg/platformapi/resources/v1alpha3/description.ts', () => {
    const query = parseListQuery(new QueryParameters('no-such-filter=1'))
    const kind = { ...plain, plural: 'things' }
    const taken = allowed(() => toListPredicate(Object(kind), { query, namespace: '', groupDomain }))
    const ofKinds = createKindTable(groupDomain).flatMap(({ options }) => Object.keys(options.filters))
    // A filter of pods that does not read a field of the pod.
    const all = new Set([...taken, ...ofKinds, 'serviceName'])
    const described = listParameters(kindFilters).map(({ name }) => name)
    expect(taken).to.include('name')
    expect(described).to.include.members([...all])
    expect([...all]).to.include.members(kindFilters.map(({ name }) => name))
  })
})

describe('the public documents', () => {
  it('match their description: add a row to pkg/platformapi/public/description.ts', () => {
    const { paths } = createPublicDocuments({
      groupDomain,
      features: new Set(),
      versionInfo: {},
      kubernetesVersion: async () => undefined,
    })
    expect(Object.keys(publicPaths(groupDomain))).to.have.members([...paths])
  })
})
