import { expect } from 'chai'
import { silent } from '../../fixtures.ts'
import { type Session, toSession } from '../../sessions/session.ts'
import { toUser, type User } from '../../users/user.ts'
import type { UserLink } from '../../users/user-link.ts'
import { readProviderConfig } from '../config.ts'
import type { Identity, ProviderClient } from '../external-identity.ts'
import type { Provider, ProviderEntry } from '../provider-store.ts'
import { createGroupReconciler } from './group-reconciler.ts'
import { loginError, providerFailed } from './login-error.ts'

const nowMs = Date.parse('2026-05-01T12:00:00Z')
const hourMs = 3_600_000
const signal = new AbortController().signal

function user(name: string, observedAgoMs: number | undefined): User {
  const observedAt = new Date(nowMs - (observedAgoMs ?? 0)).toISOString()
  return toUser({
    metadata: { name, uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: '' },
    spec: { groups: ['own'] },
    status:
      observedAgoMs === undefined
        ? {}
        : { providerGroups: [{ provider: 'p', groups: ['x:ops'], observedAt }] },
  })
}

function session(sid: string, name: string, changes: Partial<Session> = {}): Session {
  return {
    ...toSession({ metadata: { name: sid, uid: '', resourceVersion: '1', creationTimestamp: '' } }),
    ...{ createdAtMs: nowMs, user: name, userUid: `uid-${name}`, userGeneration: 1, provider: 'p' },
    ...{ rotatedAtMs: nowMs, expiresAtMs: nowMs + hourMs, ...changes },
  }
}

function provider(client: ProviderClient): Provider {
  const document = {
    name: 'p',
    type: 'OIDCIdentityProvider',
    groupsPrefix: 'x:',
    provider: { issuer: 'https://id.example.com', clientID: 'kapis' },
  }
  const config = readProviderConfig(document, [])
  if (config === undefined) throw new Error('not read')
  return { config, client }
}

const never = () => Promise.reject(new Error('not asked'))
const redirect: ProviderClient = { kind: 'redirect', redirectUrl: '', begin: never, finish: never }
const directory = (find: (uid: string) => Promise<Identity | undefined>): ProviderClient => ({
  kind: 'password',
  authenticate: never,
  find,
})
const person = (groups: readonly string[]): Identity => ({
  uid: '1',
  username: 'a',
  email: '',
  displayName: '',
  groups,
})

type ClusterState = {
  readonly users?: readonly User[]
  readonly links?: readonly UserLink[]
  readonly client?: ProviderClient
  readonly broken?: boolean
  readonly sessions?: readonly Session[]
}

async function sweep({
  users = [],
  links = [{ provider: 'p', uid: '1' }],
  client,
  broken = false,
  sessions = [],
}: ClusterState) {
  const written: [string, readonly string[]][] = []
  const known = new Map(sessions.map(each => [each.sid, each]))
  const entries = broken
    ? [
        {
          name: 's',
          resourceVersion: '1',
          createdAt: '',
          provider: undefined,
          problems: [],
          claim: { name: undefined, state: 'unknown' },
        } satisfies ProviderEntry,
      ]
    : []
  const keeper = createGroupReconciler({
    providers: { isReady: true, get: () => client && provider(client), entries: () => entries },
    users: { all: () => users, get: name => users.find(each => each.name === name), linksOf: () => links },
    sessions: {
      all: () => known.values(),
      read: async sid => known.get(sid),
      async update(changed) {
        known.set(changed.sid, changed)
        return true
      },
    },
    putGroups: async (of, _provider, groups) => {
      written.push([of.name, groups])
      return of
    },
    logger: silent,
  })
  await keeper.sweep(signal, nowMs)
  return { written, ended: [...known.values()].filter(({ ended }) => ended !== '').map(({ sid }) => sid) }
}

describe('createGroupReconciler', () => {
  const down = directory(() => Promise.reject(providerFailed(new Error('down'))))
  const cases: readonly [string, ClusterState, [string, readonly string[]][]][] = [
    [
      'stores the groups that the directory reports',
      { users: [user('a', 0)], client: directory(async () => person(['dev'])) },
      [['a', ['x:dev']]],
    ],
    [
      'does not change users whose groups are unknown',
      { users: [user('a', undefined)], client: redirect },
      [],
    ],
    [
      'keeps groups from a provider that cannot be queried, for a day',
      { users: [user('a', 23 * hourMs)], client: redirect },
      [],
    ],
    ['removes them after a day', { users: [user('a', 25 * hourMs)], client: redirect }, [['a', []]]],
    [
      'keeps groups from an unreachable directory, for a day',
      { users: [user('a', 23 * hourMs)], client: down },
      [],
    ],
    [
      'removes groups from an unreachable directory after a day',
      { users: [user('a', 25 * hourMs)], client: down },
      [['a', []]],
    ],
    [
      'removes groups that came through a deleted link',
      { users: [user('a', 0)], client: redirect, links: [] },
      [['a', []]],
    ],
    ['removes groups from a deleted provider', { users: [user('a', 0)] }, [['a', []]]],
    [
      'keeps groups while a provider Secret is invalid, which may be theirs',
      { users: [user('a', 0)], broken: true },
      [],
    ],
    [
      'checks users with a session, who may get their first group',
      {
        users: [user('a', undefined)],
        client: directory(async () => person(['dev'])),
        sessions: [session('s1', 'a')],
      },
      [['a', ['x:dev']]],
    ],
  ]
  for (const [what, world, expected] of cases) {
    it(what, async () => {
      const { written, ended } = await sweep(world)
      expect(written).to.deep.equal(expected)
      expect(ended).to.deep.equal([])
    })
  }

  it('ends the sessions of users who were deleted from the directory, if they logged in there', async () => {
    const { written, ended } = await sweep({
      users: [user('a', 0), user('b', undefined)],
      client: directory(async () => undefined),
      sessions: [
        session('s1', 'a'),
        session('s2', 'a', { provider: '' }),
        session('s3', 'b', { provider: '' }),
      ],
    })
    expect(written).to.deep.equal([['a', []]])
    expect(ended).to.deep.equal(['s1'])
  })

  it('queries an unreachable directory once, not for each user', async () => {
    let requestCount = 0
    const client = directory(() => {
      requestCount++
      return Promise.reject(providerFailed(new Error('down')))
    })
    await sweep({ users: [user('a', 0), user('b', 0), user('c', 0)], client })
    expect(requestCount).to.equal(1)
  })

  it('queries the other users when a directory rejects one entry, and removes that user’s groups after a day', async () => {
    let requestCount = 0
    const client = directory(() => {
      requestCount++
      if (requestCount === 1) throw loginError('provider_groups_incomplete', 'no groups')
      return Promise.resolve(person(['dev']))
    })
    const { written } = await sweep({ users: [user('a', 25 * hourMs), user('b', 0)], client })
    expect(requestCount).to.equal(2)
    expect(written).to.deep.equal([
      ['a', []],
      ['b', ['x:dev']],
    ])
  })
})
