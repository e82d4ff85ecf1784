import { expect } from 'chai'
import { accessToken, type HttpResponse, kubectl, uniqueName } from './cluster.ts'
import { expectStatus, groupDomain, sendAs, statusBody } from './http.ts'

const group = `iam.${groupDomain}`
const base = `/kapis/${group}/v1alpha2/users`
const json = 'application/json'
const merge = 'application/merge-patch+json'

/** All errors of the users API, as complete responses. */
describe('invalid requests for users', function () {
  this.timeout(60_000)
  const name = uniqueName('new')
  const taken = uniqueName('taken')
  const password = 'Correct horse 1'
  const good = { metadata: { name }, spec: { email: `${name}@e2e.test`, password } }
  let admin: string

  const send = (method: string, path: string, body?: unknown, type = json) =>
    sendAs(admin, `${base}${path}`, {
      method,
      ...(body === undefined
        ? {}
        : {
            headers: { 'content-type': type },
            body: typeof body === 'string' ? body : JSON.stringify(body),
          }),
    })

  before(async () => {
    admin = await accessToken()
    const metadata = { name: taken }
    const made = await send('POST', '', { metadata, spec: { email: `${taken}@e2e.test`, password } })
    expect(made.code, made.body).to.equal(201)
  })
  after(async () => {
    await kubectl('delete', `users.${group}`, taken, '--ignore-not-found')
  })

  const notFound = (who: string) =>
    statusBody(404, 'NotFound', `users.${group} "${who}" not found`, { name: who, group, kind: 'users' })
  const bad = (message: string) => statusBody(400, 'BadRequest', message)
  const notAllowed = statusBody(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  )
  const invalid = (who: string, causes: readonly object[], message: string) =>
    statusBody(422, 'Invalid', `User.${group} "${who}" is invalid: ${message}`, {
      group,
      kind: 'User',
      causes,
      name: who,
    })
  const cause = (field: string, message: string) => ({ reason: 'FieldValueInvalid', message, field })
  const weak = 'must have 8 to 64 characters, including a lower-case letter, an upper-case letter and a digit'
  const emailRule = 'must be an e-mail address (RFC 5322) such as alice@example.org'
  const unknown = 'unknown; supported: email, lang, description, displayName, groups, password'
  const states = 'must be one of Active, Disabled, AuthLimitExceeded'
  const nonexistent = '/kapis-e2e-nonexistent'
  const missing = notFound(nonexistent.slice(1))
  const ofNonexistent = { spec: { email: 'nonexistent@e2e.test' } }

  const rows: readonly [
    string,
    () => Promise<HttpResponse>,
    ReturnType<typeof statusBody>,
    Record<string, string>?,
  ][] = [
    ['GET of an unknown user', () => send('GET', nonexistent), missing],
    ['DELETE of an unknown user', () => send('DELETE', nonexistent), missing],
    ['PUT of an unknown user', () => send('PUT', nonexistent, ofNonexistent), missing],
    ['PATCH of an unknown user', () => send('PATCH', nonexistent, ofNonexistent, merge), missing],
    ['the password of an unknown user', () => send('PUT', `${nonexistent}/password`, { password }), missing],
    [
      'the state of an unknown user',
      () => send('PUT', `${nonexistent}/status`, { status: { state: 'Active' } }),
      missing,
    ],
    [
      'an unknown subresource',
      () => send('GET', `/${taken}/nothing`),
      statusBody(404, 'NotFound', 'the server could not find the requested resource', {}),
    ],
    ['no JSON', () => send('POST', '', '{'), bad('the body is not valid JSON')],
    ['a list', () => send('POST', '', []), bad('the body must be a User as a JSON object')],
    [
      'another kind',
      () => send('POST', '', { ...good, kind: 'Pod' }),
      bad(`the body must be a User of ${group}/v1alpha2`),
    ],
    ['a spec that is a list', () => send('POST', '', { spec: [] }), bad('spec must be a JSON object')],
    [
      'another name than that of the path',
      () => send('PUT', `/${taken}`, good),
      bad(`metadata.name must be the name in the path, "${taken}"`),
    ],
    ['an invalid dryRun', () => send('POST', '?dryRun=x', good), bad('dryRun must be All, not "x"')],
    [
      'an invalid state',
      () => send('PUT', `/${taken}/status`, { status: { state: 'Asleep' } }),
      bad('status.state must be one of Active, Disabled, not "Asleep"'),
    ],
    [
      'a missing new password',
      () => send('PUT', `/${taken}/password`, {}),
      bad('password is required, and must be a string'),
    ],
    ['PUT of all users', () => send('PUT', '', good), notAllowed, { allow: 'GET, HEAD, POST' }],
    [
      'POST of one user',
      () => send('POST', `/${taken}`, good),
      notAllowed,
      { allow: 'GET, HEAD, PUT, PATCH, DELETE' },
    ],
    [
      'GET of the password subresource',
      () => send('GET', `/${taken}/password`),
      notAllowed,
      { allow: 'PUT' },
    ],
    [
      'a name in use',
      () => send('POST', '', { ...good, metadata: { name: taken } }),
      statusBody(409, 'AlreadyExists', `users.${group} "${taken}" already exists`, {
        name: taken,
        group,
        kind: 'users',
      }),
    ],
    [
      'a body of 300 KB',
      () => send('POST', '', 'x'.repeat(300_000)),
      statusBody(413, 'RequestEntityTooLarge', 'Request entity is too large: limit is 262144'),
    ],
    [
      'text',
      () => send('POST', '', good, 'text/plain'),
      statusBody(415, 'UnsupportedMediaType', `the body must be ${json}`),
      { accept: json },
    ],
    [
      'an unsupported patch type',
      () => send('PATCH', `/${taken}`, {}, 'application/strategic-merge-patch+json'),
      statusBody(415, 'UnsupportedMediaType', `the body must be ${merge}`),
      { accept: merge },
    ],
    [
      'a weak password',
      () => send('PUT', `/${taken}/password`, { password: 'short' }),
      invalid(taken, [cause('password', weak)], `password: ${weak}`),
    ],
    [
      'several errors together',
      () =>
        send('POST', '', {
          metadata: { name },
          spec: { email: 'x', password: 'short', age: 1 },
          status: { state: 'Asleep' },
        }),
      invalid(
        name,
        [
          cause('spec.age', unknown),
          cause('spec.email', emailRule),
          cause('spec.password', weak),
          cause('status.state', states),
        ],
        `[spec.age: ${unknown}, spec.email: ${emailRule}, spec.password: ${weak}, status.state: ${states}]`,
      ),
    ],
    [
      'a missing e-mail address',
      () => send('POST', '', { metadata: { name }, spec: {} }),
      invalid(
        name,
        [{ reason: 'FieldValueRequired', message: 'is required', field: 'spec.email' }],
        'spec.email: is required',
      ),
    ],
  ]
  for (const [what, send, body, headers = {}] of rows) {
    it(`respond to ${what} with ${body.code}`, async () => {
      const response = await send()
      expectStatus(response, body)
      expect(response.headers).to.include(headers)
    })
  }
})
