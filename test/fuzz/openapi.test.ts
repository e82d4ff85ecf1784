import { expect } from 'chai'
import fc from 'fast-check'
import {
  accessToken,
  type HttpResponse,
  kubectl,
  makeNamespace,
  tokenOf,
  uniqueName,
} from '../e2e/cluster.ts'
import { askRaw, groupDomain } from '../e2e/http.ts'
import { readDocuments } from '../e2e/openapi-documents.ts'
import { bounds, propertyTimeoutMs } from './fuzz-parameters.ts'
import { type GeneratedRequest, type Operation, readOperations, requestsOf } from './openapi.ts'
import { expectWellFormed } from './well-formed.ts'

const namespace = uniqueName('openapi')

// Platform paths that are tested even if no document contains them.
const known: readonly Operation[] = [
  ...['nodes', 'namespaces', 'pods', 'deployments', 'users', 'secrets', 'nothing'].flatMap(kind => [
    get(`/kapis/resources.${groupDomain}/v1alpha3/${kind}`, [
      'limit',
      'page',
      'sortBy',
      'ascending',
      'name',
      'q',
      'fields',
      'labelSelector',
    ]),
    get(`/kapis/resources.${groupDomain}/v1alpha3/namespaces/{namespace}/${kind}/{name}`, ['fields']),
    get(`/apis/resources.${groupDomain}/v1alpha3/${kind}`, [
      'limit',
      'continue',
      'resourceVersion',
      'resourceVersionMatch',
      'fieldSelector',
    ]),
  ]),
  get(`/kapis/tenant.${groupDomain}/v1alpha2/logs`, [
    'operation',
    'q',
    'namespaces',
    'start_time',
    'end_time',
    'interval',
    'size',
    'from',
    'cursor',
  ]),
  get(`/kapis/iam.${groupDomain}/v1alpha2/users/{name}/loginrecords`, ['limit', 'page']),
  get(`/kapis/resources.${groupDomain}/v1alpha2/namespaces/{namespace}/quotas`, []),
  ...[
    '/oauth/authorize',
    '/oauth/login',
    '/oauth/logout',
    '/oauth/userinfo',
    '/oauth/device',
    '/.well-known/openid-configuration/oauth',
  ].map(path =>
    get(path, [
      'client_id',
      'redirect_uri',
      'response_type',
      'state',
      'code_challenge',
      'return_to',
      'id_token_hint',
      'user_code',
    ]),
  ),
  { ...get(`/kapis/iam.${groupDomain}/v1alpha2/users`, []), method: 'POST', body: { type: 'object' } },
  {
    ...get(`/kapis/iam.${groupDomain}/v1alpha2/users/{name}/password`, []),
    method: 'PUT',
    body: { type: 'object' },
  },
]

describe('generated requests', function () {
  this.timeout(propertyTimeoutMs)
  const callers: string[] = []

  before(async () => {
    await makeNamespace(namespace, ['unprivileged'])
    callers.push(await accessToken(), await tokenOf(namespace, 'unprivileged'))
  })
  after(() => kubectl('delete', 'namespace', namespace, '--wait=false'))

  it('to known paths cause no 5xx, and every rejection is well-formed', () =>
    tryAll(requestsOf({}, known), 30))

  it('to every documented operation cause no 5xx, and every response is documented', async () => {
    const documents = await readDocuments(callers[0] ?? '')
    const { byKey, others } = documents
    const all = [...byKey.values()].map(document =>
      requestsOf(document, readOperations(document, others), others),
    )
    expect(all.length).to.be.above(5)
    await tryAll(fc.oneof(...all), 80, (given, response) => {
      documents.expectDescribed(given.method.toLowerCase(), given.template, response)
    })
  })

  function tryAll(
    requests: fc.Arbitrary<GeneratedRequest>,
    runs: number,
    look: (given: GeneratedRequest, response: HttpResponse) => void = () => undefined,
  ): Promise<void> {
    return fc.assert(
      fc.asyncProperty(requests, fc.nat(callers.length - 1), async (given, who) => {
        // Watches are skipped, since they do not end.
        if (/[?&](watch|follow)=/.test(given.target) || /\/watch\//.test(given.target)) return
        // Requests that change state are sent without permission, since changes of an administrator
        // would persist. A logout changes state too.
        const isHarmless = given.method === 'GET' && !given.target.startsWith('/oauth/')
        // These requests are skipped: image registries are outside of this machine.
        if (given.target.includes('/registry/')) return
        const response = await sendAs(isHarmless ? who : 1, given)
        expectWellFormed(response, `${given.method} ${given.target} ${given.body ?? ''}`)
        look(given, response)
      }),
      bounds(runs),
    )
  }

  function sendAs(who: number, { method, target, contentType, body }: GeneratedRequest) {
    const headers = {
      authorization: `Bearer ${callers[who]}`,
      ...(body === undefined
        ? {}
        : { 'content-type': contentType, 'content-length': String(Buffer.byteLength(body)) }),
    }
    return askRaw(target, { method, headers, ...(body === undefined ? {} : { body }) })
  }
})

function get(path: string, query: readonly string[]): Operation {
  const names = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => ({ name, in: 'path', schema: {} }))
  return {
    ...{ method: 'GET', path, body: undefined, contentType: 'application/json' },
    parameters: [...names, ...query.map(name => ({ name, in: 'query', schema: {} }))],
  }
}
