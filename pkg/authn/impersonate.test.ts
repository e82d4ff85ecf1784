import { expect } from 'chai'
import { Status } from '../apierrors/status.ts'
import { jane } from '../apirequest/fixtures.ts'
import { type RequestInfo, toResourceInfo } from '../apirequest/request-info.ts'
import { impersonate } from './impersonate.ts'

type Lines = readonly (readonly [name: string, value: string])[]

function withHeaders(lines: Lines) {
  return {
    headers: Object.fromEntries(lines.map(([name, value]) => [name.toLowerCase(), value])),
    rawHeaders: lines.flat(),
  }
}

const given = {
  caller: jane,
  requestOf: () => toResourceInfo({ verb: 'list', resource: 'pods', namespace: 'ns' }),
  isConstrained: async () => false,
}

async function send(lines: Lines, refused: string[] = []) {
  const requests: string[] = []
  const may = ({ verb, group, resource, subresource, namespace, name }: RequestInfo) => {
    const what = [verb, group, resource, subresource, namespace, name].filter(Boolean).join(' ')
    requests.push(what)
    if (refused.includes(name)) throw new Status(403, 'Forbidden', `not ${name}`)
  }
  try {
    return { requests, identity: await impersonate({ ...given, req: withHeaders(lines), may }) }
  } catch (error) {
    if (!(error instanceof Status)) throw error
    return { requests, code: error.code, message: error.message }
  }
}

describe('impersonate', () => {
  it('returns the caller without impersonation headers', async () => {
    expect(await send([['Accept', '*/*']])).to.deep.equal({ requests: [], identity: null })
  })

  const user = ['Impersonate-User', 'bob'] as const
  const bare = { username: 'bob', uid: '', groups: ['system:authenticated'], extra: {} }
  const valid: readonly (readonly [
    what: string,
    lines: Lines,
    asked: readonly string[],
    identity: object,
  ])[] = [
    ['a user', [user], ['impersonate users bob'], bare],
    [
      'groups, each of which is authorized',
      [user, ['Impersonate-Group', 'a'], ['impersonate-group', 'b']],
      ['impersonate users bob', 'impersonate groups a', 'impersonate groups b'],
      { ...bare, groups: ['a', 'b', 'system:authenticated'] },
    ],
    [
      'a uid',
      [user, ['Impersonate-Uid', 'u-2']],
      ['impersonate users bob', 'impersonate authentication.k8s.io uids u-2'],
      { ...bare, uid: 'u-2' },
    ],
    [
      'extra fields, with each value authorized, keys decoded and in lower case',
      [user, ['Impersonate-Extra-Acme.com%2fScope', 'x'], ['Impersonate-Extra-acme.com%2Fscope', 'y']],
      [
        'impersonate users bob',
        'impersonate authentication.k8s.io userextras acme.com/scope x',
        'impersonate authentication.k8s.io userextras acme.com/scope y',
      ],
      { ...bare, extra: { 'acme.com/scope': ['x', 'y'] } },
    ],
    [
      'a service account, with its groups',
      [['Impersonate-User', 'system:serviceaccount:ns:sa']],
      ['impersonate serviceaccounts ns sa'],
      {
        ...bare,
        username: 'system:serviceaccount:ns:sa',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
      },
    ],
    [
      'the anonymous user, without system:authenticated',
      [['Impersonate-User', 'system:anonymous']],
      ['impersonate users system:anonymous'],
      { ...bare, username: 'system:anonymous', groups: ['system:unauthenticated'] },
    ],
    [
      'the anonymous user in system:authenticated',
      [
        ['Impersonate-User', 'system:anonymous'],
        ['Impersonate-Group', 'system:authenticated'],
      ],
      ['impersonate users system:anonymous', 'impersonate groups system:authenticated'],
      {
        ...bare,
        username: 'system:anonymous',
        groups: ['system:authenticated', 'system:unauthenticated'],
      },
    ],
    [
      'a name in UTF-8',
      [['Impersonate-User', Buffer.from('Jörg').toString('latin1')]],
      ['impersonate users Jörg'],
      { ...bare, username: 'Jörg' },
    ],
  ]
  for (const [what, lines, requests, identity] of valid) {
    it(`supports ${what}`, async () => {
      expect(await send(lines)).to.deep.equal({ requests, identity })
    })
  }

  // The headers in the format that kube-apiserver 1.36 reads.
  const empty: readonly (readonly [what: string, lines: Lines])[] = [
    ['user', [['Impersonate-User', '']]],
    ['uid', [['Impersonate-Uid', '']]],
    [
      'user and uid',
      [
        ['Impersonate-User', ''],
        ['Impersonate-Uid', ''],
      ],
    ],
  ]
  for (const [what, lines] of empty) {
    it(`treats an empty ${what} as absent`, async () => {
      expect(await send(lines)).to.deep.equal({ requests: [], identity: null })
    })
  }

  it('treats an empty uid of a user as absent', async () => {
    const requests = ['impersonate users bob']
    expect(await send([user, ['Impersonate-Uid', '']])).to.deep.equal({ requests, identity: bare })
  })

  describe('if kube-apiserver supports constrained impersonation', () => {
    const allow = async (username: string, allowed: RegExp) => {
      const requests: string[] = []
      const may = ({ verb, resource }: RequestInfo) => {
        requests.push(`${verb} ${resource}`)
        if (!allowed.test(verb)) throw new Status(403, 'Forbidden', `not ${verb}`)
      }
      const req = withHeaders([['Impersonate-User', username]])
      const found = impersonate({ ...given, isConstrained: async () => true, req, may })
      const rejection = await found?.catch((error: Error) => error.message)
      return { requests, got: typeof rejection === 'object' ? rejection?.groups : rejection }
    }

    it('authorizes with the older permission first, except for nodes, whose groups differ', async () => {
      expect(await allow('bob', /./)).to.deep.equal({
        requests: ['impersonate users'],
        got: ['system:authenticated'],
      })
      expect(await allow('bob', /:/)).to.deep.equal({
        requests: ['impersonate users', 'impersonate-on:user-info:list pods', 'impersonate:user-info users'],
        got: ['system:authenticated'],
      })
      const constrained = ['impersonate-on:arbitrary-node:list pods', 'impersonate:arbitrary-node nodes']
      expect(await allow('system:node:a', /./)).to.deep.equal({
        requests: constrained,
        got: ['system:nodes', 'system:authenticated'],
      })
      expect(await allow('system:node:a', /^impersonate$/)).to.deep.equal({
        requests: [constrained[0], 'impersonate users'],
        got: ['system:authenticated'],
      })
    })

    it('names the attributes of the request when nothing allows it', async () => {
      expect((await allow('bob', /^$/)).got).to.equal('not impersonate-on:user-info:list')
      expect((await allow('system:node:a', /^$/)).got).to.equal('not impersonate-on:arbitrary-node:list')
    })
  })

  it('handles many values of one key quickly', async () => {
    const startedAt = performance.now()
    const lines = Array.from({ length: 100_000 }, () => ['Impersonate-Extra-a', 'x'] as const)
    expect(await send([user, ...lines], ['bob'])).to.deep.include({ code: 403 })
    expect(performance.now() - startedAt).to.be.below(5_000)
  })

  const invalid: readonly (readonly [what: string, lines: Lines, message: string])[] = [
    [
      'an empty user with groups',
      [
        ['Impersonate-User', ''],
        ['Impersonate-Group', 'a'],
      ],
      'Impersonate-User must be given with every other Impersonate- header',
    ],
    [
      'two users, one of them empty',
      [['Impersonate-User', ''], user],
      'the header impersonate-user is given more than once',
    ],
    [
      'groups without a user',
      [['Impersonate-Group', 'system:masters']],
      'Impersonate-User must be given with every other Impersonate- header',
    ],
    [
      'two users',
      [user, ['Impersonate-User', 'carol']],
      'the header impersonate-user is given more than once',
    ],
    [
      'a group name that is empty',
      [user, ['Impersonate-Group', '']],
      'invalid impersonation headers: group "" must not be empty',
    ],
    [
      'a control character',
      [user, ['Impersonate-Extra-a', 'x\ty']],
      'invalid impersonation headers: value of extra key a "x\\ty" must not contain control characters',
    ],
    [
      'bytes that are not UTF-8',
      [['Impersonate-User', 'a\xff']],
      'the header impersonate-user is not valid UTF-8',
    ],
    [
      'the name of an extra field that is not UTF-8',
      [user, ['Impersonate-Extra-a%C3', 'x']],
      'the name of the header impersonate-extra-a%c3 is not valid UTF-8',
    ],
    [
      'an unknown header',
      [user, ['Impersonate-Rank', 'x']],
      'unknown header impersonate-rank; supported: Impersonate-User, Impersonate-Uid, Impersonate-Group and Impersonate-Extra-',
    ],
  ]
  for (const [what, lines, message] of invalid) {
    it(`rejects ${what}`, async () => {
      expect(await send(lines)).to.deep.equal({ requests: [], code: 400, message })
    })
  }

  it('requires the permission on users if a name is not a service account name', async () => {
    const name = 'system:serviceaccount:NS:sa'
    expect(await send([['Impersonate-User', name]])).to.deep.equal({
      requests: [`impersonate users ${name}`],
      identity: { ...bare, username: name },
    })
  })

  it('accepts an extra key named like a property of Object.prototype', async () => {
    expect(await send([user, ['Impersonate-Extra-constructor', 'x']])).to.deep.include({
      identity: { ...bare, extra: { constructor: ['x'] } },
    })
  })

  it('stops at the first denied part', async () => {
    const lines = [user, ['Impersonate-Group', 'system:masters'], ['Impersonate-Group', 'a']] as const
    const requests = ['impersonate users bob', 'impersonate groups system:masters']
    expect(await send(lines, ['system:masters'])).to.deep.equal({
      requests,
      code: 403,
      message: 'not system:masters',
    })
  })
})
