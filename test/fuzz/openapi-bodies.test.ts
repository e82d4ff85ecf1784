import { expect } from 'chai'
import fc from 'fast-check'
import { accessToken, type HttpResponse, kubectl, uniqueName } from '../e2e/cluster.ts'
import { askRaw, groupDomain, sendAs } from '../e2e/http.ts'
import { loginAs } from '../e2e/oauth.ts'
import { type Documents, readDocuments } from '../e2e/openapi-documents.ts'
import { setting } from '../e2e/run.ts'
import { bounds, propertyTimeoutMs } from './fuzz-parameters.ts'
import { createResolver, type Operation, readOperations, toText } from './openapi.ts'
import { expectWellFormed } from './well-formed.ts'
import { type KnownValues, oneChanged, wholeOf } from './whole-body.ts'

const users = `/kapis/iam.${groupDomain}/v1alpha2/users`
const password = 'Correct horse 1'

/**
 * How to send an operation: values for fields that the document does not describe, and the caller.
 */
type RequestVariant = {
  readonly as: 'admin' | 'owner'
  readonly path?: KnownValues
  readonly query?: string
  readonly known?: KnownValues
}

describe('valid bodies with one changed field', function () {
  this.timeout(propertyTimeoutMs)
  const owner = uniqueName('whole')
  const other = uniqueName('whole')
  const tokens = { admin: '', owner: '' }
  let documents: Documents

  before(async () => {
    tokens.admin = await accessToken()
    for (const name of [owner, other]) {
      const body = { metadata: { name }, spec: { email: `${name}@fuzz.test`, password } }
      const headers = { 'content-type': 'application/json' }
      const made = await sendAs(tokens.admin, users, { method: 'POST', headers, body: JSON.stringify(body) })
      expect(made.code, made.body).to.equal(201)
    }
    tokens.owner = (await loginAs({ username: owner, password })).access_token
    documents = await readDocuments(tokens.admin)
  })
  after(() => kubectl('delete', `users.iam.${groupDomain}`, owner, other, '--ignore-not-found'))

  // By operation. Operations that would change state are sent by a caller without permissions.
  const ways = (): Readonly<Record<string, RequestVariant>> => {
    const tried = { as: 'admin', query: '?dryRun=All' } as const
    const metadata = { name: other, labels: { a: 'b' }, annotations: { a: 'b' } }
    const known = { email: `${other}@fuzz.test`, metadata }
    const isNew = {
      email: `new-${other}@fuzz.test`,
      metadata: { ...metadata, name: `new-${other}`.slice(0, 63) },
    }
    const path = { user: other }
    return {
      [`POST ${users}`]: { ...tried, known: isNew },
      [`PUT ${users}/{user}`]: { ...tried, path, known },
      // The current password is omitted, since the new one must differ from it.
      [`PUT ${users}/{user}/password`]: { as: 'admin', path, known: { currentPassword: undefined } },
      [`PUT ${users}/{user}/status`]: { as: 'admin', path },
      'POST /oauth/authenticate': { as: 'admin' },
      'POST /oauth/personal-access-tokens': {
        as: 'owner',
        known: { name: 'whole', scope: 'read', expiresInSeconds: 600 },
      },
      'POST /oauth/token': { as: 'owner' },
      'POST /oauth/introspect': { as: 'owner' },
      // A token other than that of the requests.
      'POST /oauth/revoke': { as: 'owner', known: { token: 'none' } },
    }
  }
  const always = (): KnownValues => ({
    ...{
      password,
      currentPassword: password,
      groups: ['one'],
      lang: 'en',
      state: 'Active',
      username: owner,
    },
    ...{ grant_type: 'password', scope: 'openid', token: tokens.owner, provider: undefined },
    // The credential fields are omitted: Kapis chooses where a password is stored.
    ...{ credential: undefined, credentialNamespace: undefined },
    client_id: setting('KAPIS_CLIENT_ID'),
    client_secret: setting('KAPIS_CLIENT_SECRET'),
    // The assertion is omitted, since the client authenticates with its secret.
    ...{ client_assertion: undefined, client_assertion_type: undefined },
  })

  /** Returns every operation with an object as body, and an arbitrary for valid bodies. */
  function operations() {
    const { byKey, others } = documents
    return [...byKey.values()].flatMap(document => {
      const resolve = createResolver(document, others)
      const withBodies = readOperations(document, others).filter(({ body }) => body?.properties !== undefined)
      // Omits operations that contact image registries.
      return withBodies
        .filter(({ path }) => !path.includes('/registrysecrets/'))
        .map(operation => {
          const way: RequestVariant = ways()[`${operation.method} ${operation.path}`] ?? { as: 'owner' }
          const whole = wholeOf(operation.body ?? {}, resolve, { ...always(), ...way.known })
          return { operation, way, whole }
        })
    })
  }

  function send(
    { method, path, contentType }: Operation,
    way: RequestVariant,
    body: unknown,
  ): Promise<HttpResponse> {
    const filled = path.replace(/\{([^}]+)\}/g, (_, name) => String(way.path?.[name] ?? 'x'))
    const text = toText(body, contentType) ?? ''
    const headers = {
      // Token requests contain the client credentials in the form only.
      ...(path === '/oauth/token' ? {} : { authorization: `Bearer ${tokens[way.as]}` }),
      'content-type': contentType,
      'content-length': String(Buffer.byteLength(text)),
    }
    return askRaw(`${filled}${way.query ?? ''}`, { method, headers, body: text })
  }

  it('are accepted without the change', async () => {
    const taken: string[] = []
    for (const { operation, way, whole } of operations()) {
      const name = `${operation.method} ${operation.path}`
      const [body] = fc.sample(whole, { numRuns: 1, seed: 34 })
      const response = await send(operation, way, body)
      expectWellFormed(response, `${name} ${JSON.stringify(body)}`)
      if (!(name in ways())) continue
      expect(response.code, `${name} ${JSON.stringify(body)}: ${response.body}`).to.be.within(200, 299)
      taken.push(name)
    }
    expect(taken.sort()).to.deep.equal(Object.keys(ways()).sort())
  })

  it('are accepted or rejected as documented, and never answered with 5xx', () => {
    const changed = operations().map(({ operation, way, whole }) => {
      const weight = `${operation.method} ${operation.path}` in ways() ? 5 : 1
      const arbitrary = whole.chain(oneChanged).map(body => ({ operation, way, body }))
      return { weight, arbitrary }
    })
    return fc.assert(
      fc.asyncProperty(fc.oneof(...changed), async ({ operation, way, body }) => {
        const response = await send(operation, way, body)
        expectWellFormed(response, `${operation.method} ${operation.path} ${JSON.stringify(body)}`)
        documents.expectDescribed(operation.method.toLowerCase(), operation.path, response)
      }),
      bounds(50),
    )
  })
})
