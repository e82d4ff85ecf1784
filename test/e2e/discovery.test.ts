import { expect } from 'chai'
import {
  group,
  kubectl,
  kubectlOutput,
  makeNamespace,
  sendToKube,
  tokenOf,
  uniqueName,
  version,
} from './cluster.ts'
import { parseColumns } from './columns.ts'
import { eventually, groupDomain } from './http.ts'

const namespace = uniqueName('discovery')
const apiService = `${version}.${group}`
const prefix = `${group.split('.').reverse().join('.')}.${version}.`
const apiVersionFlag = `--api-version=${group}/${version}`

describe('discovery through kube-apiserver', function () {
  this.timeout(90_000)

  before(() => makeNamespace(namespace, ['default']))
  after(() => kubectl('delete', 'namespace', namespace, '--wait=false'))

  it('the APIService is available', async () => {
    const [row] = parseColumns(await kubectlOutput('get', 'apiservice', apiService))
    expect(row).to.include({ NAME: apiService, AVAILABLE: 'True' })
    const path = '{.status.conditions[?(@.type=="Available")].message}'
    const message = await kubectlOutput('get', 'apiservice', apiService, '-o', `jsonpath=${path}`)
    expect(message).to.equal('all checks passed')
  })

  it('api-resources lists the nodes', async () => {
    const text = await kubectlOutput('api-resources', `--api-group=${group}`, '-o', 'wide')
    const row = parseColumns(text).find(({ NAME }) => NAME === 'nodes')
    expect(row).to.include({
      SHORTNAMES: '',
      APIVERSION: `${group}/${version}`,
      NAMESPACED: 'false',
      KIND: 'Node',
      VERBS: 'get,list,watch',
    })
    expect(await kubectlOutput('api-versions')).to.include(`${group}/${version}\n`)
  })

  it('unqualified nodes are still the native ones', async () => {
    const name = await kubectlOutput('get', 'nodes,no', '-o', 'name')
    expect(name)
      .to.match(/^node\//)
      .and.not.include(group)
  })

  it('explain describes the nodes and their fields', async () => {
    const whole = await kubectlOutput('explain', apiVersionFlag, 'nodes')
    expect(whole).to.match(new RegExp(`^GROUP: +${group}\nKIND: +Node\nVERSION: +${version}\n`))
    expect(whole).to.match(/\n {2}spec\t<NodeSpec>\n.*\n\n {2}status\t<NodeStatus>\n/s)
    const conditions = await kubectlOutput('explain', apiVersionFlag, 'nodes.status.conditions')
    expect(conditions).to.include('FIELD: conditions <[]NodeCondition>')
    expect(conditions).to.match(/\n {2}status\t<string> -required-\n/)
    const all = await kubectlOutput('explain', apiVersionFlag, 'nodes', '--recursive')
    expect(all).to.match(/\n {4}nodeInfo\t<NodeSystemInfo>\n {6}architecture\t<string> -required-\n/)
    const old = await kubectlOutput(
      'explain',
      apiVersionFlag,
      'nodes.spec.taints',
      '--output=plaintext-openapiv2',
    )
    expect(old).to.match(/RESOURCE: taints <\[\]Object>/)
  })

  const sources: Readonly<Record<string, string>> = {
    deployments: 'apps/v1',
    workspaces: `tenant.${groupDomain}/v1alpha1`,
  }
  const explained: Readonly<Record<string, readonly string[]>> = {
    nodes: ['nodes', 'nodes.metadata', 'nodes.spec.taints', 'nodes.status.conditions'],
    namespaces: ['namespaces', 'namespaces.spec', 'namespaces.status.phase'],
    pods: [
      'pods',
      'pods.spec',
      'pods.spec.containers.ports',
      'pods.spec.containers.livenessProbe.httpGet.port',
    ],
    persistentvolumeclaims: [
      'persistentvolumeclaims.spec.resources.requests',
      'persistentvolumeclaims.status',
    ],
    deployments: ['deployments', 'deployments.spec.template.spec.volumes', 'deployments.spec.selector'],
    workspaces: ['workspaces', 'workspaces.spec'],
  }
  for (const [plural, paths] of Object.entries(explained)) {
    it(`explain describes ${plural} like the kinds of kube-apiserver`, async () => {
      const own = sources[plural] ?? 'v1'
      for (const args of [...paths.map(path => [path]), [plural, '--recursive']]) {
        // Retried, since kube-apiserver fetches the documents once per minute, and a kind may have
        // been added.
        await eventually(
          async () => {
            const [ours, theirs] = await Promise.all([
              kubectlOutput('explain', apiVersionFlag, ...args),
              kubectlOutput('explain', `--api-version=${own}`, ...args),
            ])
            expect(withoutHead(ours), args.join(' ')).to.equal(withoutHead(theirs))
            expect(ours, args.join(' ')).to.match(/\S+\t<\S+>|FIELD: /)
          },
          75_000,
          500,
        )
      }
    })
  }

  it('the schemas contain everything of kube-apiserver’s own, including defaults and nullable fields', async () => {
    const schemasAt = async (path: string): Promise<Schemas> =>
      JSON.parse(await kubectlOutput('get', '--raw', `/openapi/v3/${path}`)).components.schemas
    const ours = await schemasAt(`apis/${group}/${version}`)
    let members = 0
    for (const plural of Object.keys(explained)) {
      const source = sources[plural] ?? 'v1'
      const theirs = await schemasAt(source === 'v1' ? 'api/v1' : `apis/${source}`)
      const kind = kindOf(ours, group, plural)
      const pairs: [string, string][] = [[kind, kindOf(theirs, source.split('/').at(-2) ?? '', plural)]]
      // The list grows during the iteration.
      for (const [own, their] of pairs) {
        const follow = (name: string, at: string) => {
          if (name !== '' && !pairs.some(([known]) => known === name)) pairs.push([name, at])
        }
        const [a, b] = [flatten(ours[own]), flatten(theirs[their])]
        expect(a.map(toComparable), `${own} is not as ${their}`).to.deep.equal(b.map(toComparable))
        for (const [i, { ref }] of a.entries()) follow(ref, b[i]?.ref ?? '')
        members += a.filter(({ json }) => json.includes('"default"') || json.includes('"nullable"')).length
      }
    }
    expect(members).to.be.greaterThan(100)
  })

  it('the OpenAPI document of the cluster contains the schemas and is complete', async () => {
    const swagger: Swagger = JSON.parse(await kubectlOutput('get', '--raw', '/openapi/v2'))
    expect(swagger.paths).to.include.keys([
      `/apis/${group}/${version}/nodes`,
      `/apis/${group}/${version}/nodes/{name}`,
    ])
    expect(swagger.definitions).to.include.keys([`${prefix}Node`, `${prefix}NodeStatus`])
    // A suffix is the result of a conflict with a definition of another server.
    const renamed = Object.keys(swagger.definitions).filter(
      name => name.startsWith(prefix) && /_v\d+$/.test(name),
    )
    expect(renamed).to.deep.equal([])
    const index: { paths: Record<string, unknown> } = JSON.parse(
      await kubectlOutput('get', '--raw', '/openapi/v3'),
    )
    expect(index.paths).to.include.keys([`apis/${group}/${version}`, 'version', 'api/v1'])
  })

  it('the OpenAPI document can be served as protobuf', async () => {
    // A single invalid part would break the protobuf document of the whole cluster, which old
    // clients need.
    const accept = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
    const response = await sendToKube(await tokenOf(namespace, 'default'), '/openapi/v2', {
      headers: { accept },
    })
    expect(response.code).to.equal(200)
    expect(response.body).to.include(`${prefix}NodeStatus`)
  })
})

describe('the APIService', function () {
  this.timeout(60_000)

  it('is created again within seconds after its deletion', async () => {
    const uid = await uidOf()
    await kubectlOutput('delete', 'apiservice', apiService)
    const later = await happens(async () => {
      const now = await uidOf()
      return now !== '' && now !== uid
    }, 8_000)
    expect(later).to.equal(true)
    await kubectlOutput('wait', '--for=condition=Available', `apiservice/${apiService}`, '--timeout=30s')
  })

  it('is repaired within a second after a change', async () => {
    await patch({
      spec: { versionPriority: 7, service: { port: 1 } },
      metadata: { labels: { 'test/kept': 'yes' } },
    })
    const path = '{.spec.versionPriority} {.metadata.labels.test/kept}'
    const fixed = await happens(async () => {
      const text = await kubectlOutput('get', 'apiservice', apiService, '-o', `jsonpath=${path}`)
      return text === '100 yes'
    }, 1_500)
    expect(fixed).to.equal(true)
    await patch({ metadata: { labels: { 'test/kept': null } } })
    await kubectlOutput('wait', '--for=condition=Available', `apiservice/${apiService}`, '--timeout=30s')
  })
})

/** Removes the lines with group and version, which necessarily differ. */
function withoutHead(text: string): string {
  return text.replace(/^GROUP:.*\n/m, '').replace(/^VERSION:.*\n/m, '')
}

type Swagger = { paths: Record<string, unknown>; definitions: Record<string, unknown> }

async function uidOf(): Promise<string> {
  const { stdout } = await kubectl('get', 'apiservice', apiService, '-o', 'jsonpath={.metadata.uid}')
  return stdout
}

async function patch(change: object): Promise<void> {
  await kubectlOutput('patch', 'apiservice', apiService, '--type=merge', '-p', JSON.stringify(change))
}

async function happens(check: () => Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const until = Date.now() + timeoutMs
  while (Date.now() < until) {
    if (await check()) return true
  }
  return false
}

type Schemas = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** Returns the name of the schema whose kind corresponds to a plural. */
function kindOf(schemas: Schemas, ofGroup: string, plural: string): string {
  const singular = plural.slice(0, -1)
  const name = Object.keys(schemas).find(key => {
    const kinds: unknown = schemas[key]?.['x-kubernetes-group-version-kind']
    if (!Array.isArray(kinds)) return false
    return kinds.some(is => is.group === ofGroup && is.kind.toLowerCase() === singular)
  })
  if (name === undefined) throw new Error(`schema of ${plural} not found`)
  return name
}

type SchemaReference = { readonly path: string; readonly ref: string; readonly json: string }

/** Returns a schema and its nested schemas as a flat list, each without its nested schemas. */
function flatten(schema: unknown, path = ''): SchemaReference[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { properties, items, additionalProperties, allOf, $ref, ...own } = Object.fromEntries(
    Object.entries(schema),
  )
  delete own['x-kubernetes-group-version-kind']
  const target = String($ref ?? allOf?.[0]?.$ref ?? '')
  return [
    { path, ref: target.split('/').at(-1) ?? '', json: JSON.stringify(Object.entries(own).sort()) },
    ...Object.entries(properties ?? {}).flatMap(([key, inner]) => flatten(inner, `${path}.${key}`)),
    ...flatten(items, `${path}[]`),
    ...flatten(additionalProperties, `${path}{}`),
  ]
}

function toComparable({ path, ref, json }: SchemaReference) {
  return { path, json, isRef: ref !== '' }
}
