import { expect } from 'chai'
import {
  administratorCertificate,
  askWithCertificate,
  type ClientCertificate,
  type Subject,
  signClientCertificate,
} from './client-certificate.ts'
import { accessToken, type HttpResponse, kubectl, kubectlOutput, sendToKapis, uniqueName } from './cluster.ts'
import { eventually, groupDomain, sendAs } from './http.ts'
import { createUser, loginAs, removeUser } from './oauth.ts'
import { run } from './run.ts'

const resourcesGroup = `resources.${groupDomain}`
const users = `/kapis/iam.${groupDomain}/v1alpha2/users`
const json = { 'content-type': 'application/json' }
const review = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })
const reviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews'

// HTTP strips spaces around a header value: the receiver would act for another user.
describe('an identity that a header would change', function () {
  this.timeout(120_000)
  const administrator = uniqueName('user-admin')
  const group = uniqueName('blank')
  let token = ''

  before(async () => {
    await createUser({ username: administrator, password: 'Correct horse 1' })
    await kubectlOutput(
      ...['create', 'clusterrolebinding', administrator],
      ...['--clusterrole=kapis:user-administrator', `--user=${administrator}`],
    )
    // Permissions of the group whose name has no space. Members of the group with a space must not
    // have them.
    await kubectlOutput('create', 'clusterrolebinding', group, '--clusterrole=view', `--group=${group}`)
    token = (await loginAs({ username: administrator, password: 'Correct horse 1' })).access_token
    await eventually(async () => expect((await sendAs(token, users)).code).to.equal(200), 10_000)
  })
  after(async () => {
    for (const name of [administrator, group]) await kubectl('delete', 'clusterrolebinding', name)
    await removeUser(administrator)
  })

  describe('as a group of a user', () => {
    const bad = [
      ' system:masters',
      'system:masters',
      '\tsystem:masters',
      '\u00a0system:masters',
      'dev ',
      'a\tb',
      'a\u200bb',
    ]
    const name = uniqueName('blank-user')
    const spec = (groups: readonly string[]) => ({ email: `${name}@e2e.test`, groups })
    const send = (method: string, path: string, body: object, headers: typeof json) =>
      sendAs(token, path, { method, headers, body: JSON.stringify(body) })
    const expectRejected = (response: HttpResponse, field: string) => {
      const { code, details } = JSON.parse(response.body)
      expect([response.code, code, details.causes[0].field], response.body).to.deep.equal([422, 422, field])
    }
    before(() => createUser({ username: name, password: 'Correct horse 1' }))
    after(() => removeUser(name))

    for (const wrong of bad) {
      it(`${JSON.stringify(wrong)} is rejected with 422, by every write`, async () => {
        const groups = ['dev', wrong]
        const field = 'spec.groups[1]'
        const other = {
          metadata: { name: uniqueName('blank-new') },
          spec: { ...spec(groups), email: 'new@e2e.test' },
        }
        expectRejected(await send('POST', users, other, json), field)
        expectRejected(
          await send('PUT', `${users}/${name}`, { metadata: { name }, spec: spec(groups) }, json),
          field,
        )
        const merge = { 'content-type': 'application/merge-patch+json' }
        expectRejected(await send('PATCH', `${users}/${name}`, { spec: { groups } }, merge), field)
        // The schema of the CRD has the same rule, so it applies to writes that bypass Kapis too.
        const patch = ['patch', `users.iam.${groupDomain}`, name, '--type=merge']
        for (const [part, body] of [
          [[], { spec: { groups } }],
          [
            ['--subresource=status'],
            { status: { providerGroups: [{ provider: 'p', groups, observedAt: '2026-01-01T00:00:00Z' }] } },
          ],
        ] as const) {
          const { code, stderr } = await run('kubectl', [...patch, ...part, '-p', JSON.stringify(body)])
          expect(code, stderr).to.equal(1)
          expect(stderr).to.include('groups must not begin')
        }
      })
    }
  })

  describe('in a client certificate', () => {
    const send = async (subject: Subject, path: string) => {
      const pair = await signClientCertificate(subject)
      const [kube, kapis] = [
        await askWithCertificate('kube-apiserver', pair, path),
        await askWithCertificate('kapis', pair, path),
      ]
      return { kube, kapis, pair }
    }
    const cases: readonly (readonly [what: string, subject: Subject])[] = [
      [
        'the group " system:masters"',
        [
          ['O', ' system:masters'],
          ['CN', 'blank'],
        ],
      ],
      [
        'the group "system:masters "',
        [
          ['O', 'system:masters '],
          ['CN', 'blank'],
        ],
      ],
      [
        'the group "\\tsystem:masters"',
        [
          ['O', '\tsystem:masters'],
          ['CN', 'blank'],
        ],
      ],
      [
        'a group with a blank, whose name without the blank has a permission',
        [
          ['O', `${group} `],
          ['CN', 'blank'],
        ],
      ],
      ['a user name with a blank', [['CN', ` ${administrator}`]]],
      [
        'several groups',
        [
          ['O', 'dev'],
          ['O', ' system:masters'],
          ['CN', 'blank'],
        ],
      ],
    ]
    for (const [what, subject] of cases) {
      it(`has no more permissions than in kube-apiserver: ${what}`, async () => {
        const { kube, kapis, pair } = await send(subject, '/api/v1/pods')
        expect([kube.code, kapis.code], kapis.body).to.deep.equal([403, 403])
        for (const path of [
          '/api/v1/secrets',
          `/kapis/resources.${groupDomain}/v1alpha3/namespaces`,
          `/apis/resources.${groupDomain}/v1alpha3/nodes`,
          users,
        ])
          expect((await askWithCertificate('kapis', pair, path)).code, path).to.equal(403)
        const { message, reason } = JSON.parse(kapis.body)
        expect(reason).to.equal('Forbidden')
        expect(message).to.match(
          /^the identity from client-certificate authentication cannot be used: (group|user name) "/,
        )
        expect(message).to.match(/must not begin or end with a space or a tab$/)
      })
    }

    it('is rejected for upgrades, too', async () => {
      const pair = await signClientCertificate([
        ['O', ' system:masters'],
        ['CN', 'blank'],
      ])
      const path = '/api/v1/namespaces/default/pods/none/exec?command=id&stdout=true'
      const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1' }
      expect((await askWithCertificate('kapis', pair, path, { method: 'POST', headers })).code).to.equal(403)
    })

    it('is rejected even with a valid token', async () => {
      const pair = await signClientCertificate([
        ['O', ' system:masters'],
        ['CN', 'blank'],
      ])
      const headers = { authorization: `Bearer ${await accessToken()}` }
      expect((await askWithCertificate('kapis', pair, '/api', { headers })).code).to.equal(403)
    })
  })

  describe('through kube-apiserver', () => {
    const namespaces = `/apis/${resourcesGroup}/v1alpha3/namespaces`
    const name = uniqueName('aggregated')
    const namesAt = async (pair: ClientCertificate, path = namespaces) => {
      const response = await askWithCertificate('kube-apiserver', pair, path)
      expect(response.code, response.body).to.equal(200)
      const { items } = JSON.parse(response.body)
      return items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
    }
    before(async () => {
      await kubectlOutput(
        ...['create', 'clusterrole', name, '--verb=list,watch,get'],
        `--resource=namespaces.${resourcesGroup},nodes.${resourcesGroup}`,
      )
      await kubectlOutput('create', 'clusterrolebinding', name, `--clusterrole=${name}`, `--user=${name}`)
      // Permissions of groups are compared exactly, including a trailing space.
      const all = uniqueName('sees-all')
      await kubectlOutput('create', 'clusterrole', all, '--verb=list', '--resource=namespaces')
      await kubectlOutput('create', 'clusterrolebinding', all, `--clusterrole=${all}`, `--group=${name}`)
    })

    it('returns all namespaces to an administrator, and to others those that they may see', async () => {
      const every = (
        await kubectlOutput('get', 'namespaces', '-o', 'jsonpath={.items[*].metadata.name}')
      ).split(' ')
      expect(await namesAt(await administratorCertificate())).to.include.members(every)
      await eventually(async () => {
        expect(
          await namesAt(
            await signClientCertificate([
              ['O', name],
              ['CN', name],
            ]),
          ),
        ).to.include.members(every)
      }, 20_000)
      expect(await namesAt(await signClientCertificate([['CN', name]]))).to.deep.equal([])
    })

    for (const [what, subject] of [
      [
        '" system:masters"',
        [
          ['O', ' system:masters'],
          ['CN', name],
        ],
      ],
      [
        '"system:masters\\t"',
        [
          ['O', 'system:masters\t'],
          ['CN', name],
        ],
      ],
      [
        'a group with a blank',
        [
          ['O', 'dev'],
          ['O', `${name} `],
          ['CN', name],
        ],
      ],
    ] as const) {
      it(`returns nothing to a caller in the group ${what}, which HTTP/1.1 would change`, async () => {
        const pair = await signClientCertificate(subject)
        for (const path of [
          namespaces,
          `${namespaces}?watch=true&timeoutSeconds=1`,
          `/apis/${resourcesGroup}/v1alpha3/nodes`,
        ]) {
          const { code, body } = await askWithCertificate('kube-apiserver', pair, path)
          expect(code, body).to.equal(400)
          expect(JSON.parse(body).message).to.equal(
            'the header x-remote-group begins or ends with a space or a tab',
          )
        }
      })
    }

    it('is accepted with thousands of groups', async () => {
      const groups = Array.from({ length: 2_500 }, (_, i) => `group-${i}-${'x'.repeat(100)}`)
      const path = `/apis/${resourcesGroup}/v1alpha3/nodes?limit=1`
      const headers = { 'impersonate-user': name, 'impersonate-group': groups }
      expect(
        await askWithCertificate('kube-apiserver', await administratorCertificate(), path, { headers }),
      ).to.include({
        code: 200,
      })
    })
  })

  describe('in impersonation headers', () => {
    let admin = ''
    before(async () => {
      admin = await accessToken()
    })
    const bad: readonly (readonly [what: string, headers: Record<string, string>, message: RegExp])[] = [
      [
        'a tab in a group',
        { 'impersonate-group': 'a\tb' },
        /group "a\\tb" must not contain control characters$/,
      ],
      ['an empty group', { 'impersonate-group': '' }, /group "" must not be empty$/],
      [
        'bytes that are not UTF-8',
        { 'impersonate-group': 'a\xff' },
        /^the header impersonate-group is not valid UTF-8$/,
      ],
      [
        'a control character in an extra value',
        { 'impersonate-extra-a': 'x\ty' },
        /value of extra key a "x\\ty" must not contain control characters$/,
      ],
    ]
    for (const [what, headers, message] of bad) {
      it(`returns 400: ${what}`, async () => {
        const response = await sendAs(admin, '/api', { headers: { 'impersonate-user': 'jane', ...headers } })
        expect(response.code, response.body).to.equal(400)
        expect(JSON.parse(response.body).message).to.match(message)
      })
    }
  })
})

describe('a client certificate identity', function () {
  this.timeout(120_000)
  const jane = uniqueName('jane')
  // Without this role, a caller in system:unauthenticated cannot create a SelfSubjectReview.
  before(() =>
    kubectlOutput('create', 'clusterrolebinding', jane, '--clusterrole=system:basic-user', `--user=${jane}`),
  )
  after(() => kubectl('delete', 'clusterrolebinding', jane))
  const whoAmI = async (server: 'kube-apiserver' | 'kapis', pair: ClientCertificate) => {
    const response = await askWithCertificate(server, pair, reviews, {
      method: 'POST',
      headers: json,
      body: review,
    })
    expect(response.code, response.body).to.equal(201)
    const { username, groups } = JSON.parse(response.body).status.userInfo
    return { username, groups: [...groups].sort() }
  }
  const subjects: readonly (readonly [what: string, subject: Subject])[] = [
    [
      'with groups',
      [
        ['O', 'dev'],
        ['O', 'Domain Admins'],
        ['CN', jane],
      ],
    ],
    ['without a group', [['CN', jane]]],
    [
      'beyond ASCII',
      [
        ['O', '開発'],
        ['CN', 'Jörg'],
      ],
    ],
    [
      'with two common names',
      [
        ['CN', 'first'],
        ['O', 'dev'],
        ['CN', 'last'],
      ],
    ],
    [
      'with a name like a service account',
      [['CN', 'system:serviceaccount:kube-system:namespace-controller']],
    ],
    ['with a name similar to a service account', [['CN', 'system:serviceaccount:KUBE:a']]],
    [
      'in the group system:unauthenticated',
      [
        ['O', 'system:unauthenticated'],
        ['CN', jane],
      ],
    ],
    [
      'in the group system:authenticated',
      [
        ['O', 'system:authenticated'],
        ['CN', jane],
      ],
    ],
    [
      'of a node',
      [
        ['O', 'system:nodes'],
        ['CN', 'system:node:kwok-node-0'],
      ],
    ],
  ]
  for (const [what, subject] of subjects) {
    it(`reaches kube-apiserver unchanged: ${what}`, async () => {
      const pair = await signClientCertificate(subject)
      expect(await whoAmI('kapis', pair)).to.deep.equal(await whoAmI('kube-apiserver', pair))
    })
  }

  it('with the name of the anonymous user is rejected', async () => {
    const pair = await signClientCertificate([
      ['O', 'dev'],
      ['CN', 'system:anonymous'],
    ])
    expect((await askWithCertificate('kapis', pair, '/api/v1/pods')).code).to.equal(403)
    expect((await sendToKapis('/api/v1/pods')).code).to.be.oneOf([401, 403])
  })
})
