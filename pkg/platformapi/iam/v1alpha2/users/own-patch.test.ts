import { expect } from 'chai'
import { renderKube } from '../../../../apierrors/render-kube.ts'
import { Status } from '../../../../apierrors/status.ts'
import { startLoopback, toExchange } from '../../../../apirequest/fixtures.ts'
import type { UserDraft } from '../../../../iam/users/user-draft.ts'
import { patchOwnUser, toOwnChange } from './own-patch.ts'

const groupDomain = 'kapis.io'
const jsonPatch = 'application/json-patch+json'
const merge = 'application/merge-patch+json'
const mark = '/metadata/annotations/iam.kapis.io~1uninitialized'
const annotation = 'iam.kapis.io/uninitialized'
const password = 'Another horse 2'
const path = '/apis/iam.kapis.io/v1alpha2/users/jane'
// The patch that KubeSphere's console sends after a first login.
const first = [
  { op: 'remove', path: mark },
  { op: 'replace', path: '/spec/password', value: password },
]

const hash = `$2b$10$${'Aa1'.repeat(17)}Aa`

describe('toOwnChange', () => {
  const rows: readonly [string, unknown, unknown][] = [
    [jsonPatch, first, { password, spec: {} }],
    [jsonPatch, first.slice(1), { password, spec: {} }],
    [jsonPatch, first.slice(0, 1), undefined],
    [
      jsonPatch,
      [{ op: 'add', path: '/spec/lang', value: 'de' }],
      { password: undefined, spec: { lang: 'de' } },
    ],
    [jsonPatch, [{ op: 'remove', path: '/spec/lang' }], { password: undefined, spec: { lang: null } }],
    [jsonPatch, [first[0], { op: 'add', path: '/spec/lang', value: 'de' }], undefined],
    [jsonPatch, [...first, { op: 'add', path: '/spec/groups', value: ['a'] }], undefined],
    [jsonPatch, [{ op: 'test', path: '/spec/lang', value: 'de' }, ...first], undefined],
    [jsonPatch, [{ op: 'copy', from: '/spec/email', path: '/spec/lang' }], undefined],
    [jsonPatch, [{ op: 'replace', path: '/spec', value: { lang: 'de' } }], undefined],
    [jsonPatch, [{ op: 'add', path: mark, value: 'true' }], undefined],
    [jsonPatch, [{ op: 'replace', path: '/spec/password', value: 1 }], undefined],
    [jsonPatch, { spec: { lang: 'de' } }, undefined],
    [jsonPatch, [1], undefined],
    [jsonPatch, [], undefined],
    [
      merge,
      { metadata: { annotations: { [annotation]: null } }, spec: { password } },
      { password, spec: {} },
    ],
    [merge, { spec: { email: 'j@x.test' } }, { password: undefined, spec: { email: 'j@x.test' } }],
    [merge, { spec: { groups: null } }, undefined],
    [merge, { spec: null }, undefined],
    [merge, 'x', undefined],
  ]
  for (const [type, patch, change] of rows)
    it(`reads ${JSON.stringify(patch)}`, () =>
      expect(toOwnChange(patch, type, groupDomain)).to.deep.equal(change))
})

describe('patchOwnUser', () => {
  async function send(
    patch: unknown,
    { mustChange = true, isCurrent = false, isFresh = true, query = '', code = 200 } = {},
  ) {
    const events: unknown[] = []
    const user = {
      apiVersion: 'iam.kapis.io/v1alpha2',
      kind: 'User',
      metadata: {
        name: 'jane',
        uid: 'u-1',
        resourceVersion: '7',
        creationTimestamp: '2031-01-01T00:00:00Z',
        annotations: mustChange ? { [annotation]: 'true' } : {},
      },
      spec: { email: 'jane@x.test' },
    }
    const options = {
      groupDomain,
      writer: {
        read: async () => user,
        async update(draft: UserDraft) {
          events.push(['update', draft.spec, draft.resourceVersion])
          return user
        },
        setPassword: async (...args: readonly unknown[]) => void events.push(['password', ...args]),
      },
      async callAs(_exchange: unknown, call: object) {
        events.push(call)
        if (code !== 200) throw new Status(code, 'Forbidden', 'jane cannot patch')
        return { code, text: '{}' }
      },
      isPassword: async () => isCurrent,
      hasJustLoggedIn: async () => isFresh,
      audit: (_exchange: unknown, ...event: readonly unknown[]) => void events.push(event),
    }
    const server = await startLoopback(async (req, res) => {
      await patchOwnUser(options, toExchange(req, res)).catch(error => renderKube(res, error))
    })
    try {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}${query}`, {
        method: 'PATCH',
        headers: { 'content-type': jsonPatch },
        body: JSON.stringify(patch),
      })
      const { message } = JSON.parse(await response.text())
      return { code: response.status, message, events }
    } finally {
      await server.close()
    }
  }

  it('accepts the first password of a user without an old one', async () => {
    expect(await send(first)).to.deep.equal({
      code: 200,
      message: undefined,
      events: [
        ['password', 'jane', password, { isDryRun: false, permit: undefined }],
        ['set password', 'jane'],
      ],
    })
  })

  it('logs two changes with one line each', async () => {
    const both = [...first, { op: 'replace', path: '/spec/email', value: 'j@x.test' }]
    const { code, events } = await send(both)
    const lines = events.filter((event: unknown) => Array.isArray(event) && event.at(-1) === 'jane')
    expect([code, lines]).to.deep.equal([
      200,
      [
        ['update', 'jane'],
        ['set password', 'jane'],
      ],
    ])
  })

  it('does not reveal the current password in a dry run', async () => {
    const { code, events } = await send(first, { isCurrent: true, query: '?dryRun=All' })
    expect([code, events]).to.deep.equal([
      200,
      [['password', 'jane', password, { isDryRun: true, permit: undefined }]],
    ])
  })

  it('stores the e-mail address and the language', async () => {
    const patch = [
      { op: 'replace', path: '/spec/email', value: 'j@x.test' },
      { op: 'add', path: '/spec/lang', value: 'de' },
    ]
    const { code, events } = await send(patch)
    expect([code, events]).to.deep.equal([
      200,
      [
        ['update', { email: 'j@x.test', lang: 'de' }, '7'],
        ['update', 'jane'],
      ],
    ])
  })

  const refused: readonly [string, unknown, Parameters<typeof send>[1], number, RegExp][] = [
    [
      'of the password without currentPassword',
      first,
      { mustChange: false },
      403,
      /requires currentPassword: use PUT \/kapis\//,
    ],
    [
      'of the password to a bcrypt hash',
      [{ ...first[1], value: hash }],
      {},
      422,
      /spec.password: .*not a bcrypt hash/,
    ],
    ['to a weak password', [{ ...first[1], value: 'weak' }], {}, 422, /spec.password: .*must have 8 to 64/],
    ['to the same password', first, { isCurrent: true }, 422, /must differ from your current password/],
    ['with an invalid dryRun', first, { query: '?dryRun=Some' }, 400, /dryRun must be All/],
    [
      'to an empty e-mail address',
      [{ op: 'remove', path: '/spec/email' }],
      {},
      422,
      /spec.email: .*is required/,
    ],
  ]
  for (const [title, patch, how, code, message] of refused)
    it(`rejects a change ${title}`, async () => {
      const response = await send(patch, how)
      expect([response.code, response.events]).to.deep.equal([code, []])
      expect(response.message).to.match(message)
    })

  it('rejects a first password with a token that may have been stolen, and audits it', async () => {
    const { code, message, events } = await send(first, { isFresh: false })
    expect([code, message, events]).to.deep.equal([
      403,
      'log in again with your password to set a new one, or use PUT /kapis/iam.kapis.io/v1alpha2/users/jane/password with currentPassword',
      [['set password', 'jane', 'old_login']],
    ])
  })

  it('leaves every other decision to kube-apiserver, as the caller', async () => {
    const groups = [{ op: 'add', path: '/spec/groups', value: ['a'] }]
    const call = { method: 'PATCH', path: `${path}?fieldManager=x`, body: groups, contentType: jsonPatch }
    expect(await send(groups, { query: '?fieldManager=x' })).to.deep.equal({
      code: 200,
      message: undefined,
      events: [call],
    })
    const { code, message } = await send(groups, { code: 403 })
    expect([code, message]).to.deep.equal([
      403,
      'jane cannot patch: of your own user you may change spec.email, spec.lang and the password',
    ])
  })
})
