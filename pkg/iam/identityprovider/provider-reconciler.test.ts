import { expect } from 'chai'
import { silent } from '../fixtures.ts'
import { type Session, toSession } from '../sessions/session.ts'
import { createProviderReconciler, type ProviderState } from './provider-reconciler.ts'

function session(sid: string, provider: string, ended = ''): Session {
  return {
    ...toSession({ metadata: { name: sid, uid: '', resourceVersion: '1', creationTimestamp: '' } }),
    ...{ user: 'alice', userUid: 'uid-alice', userGeneration: 1, provider, expiresAtMs: 1, ended },
  }
}

type ProviderStates = Readonly<Record<string, ProviderState>>

/** @param stored the states in kube-apiserver, if they differ from those of the watch */
async function endsOf(watched: ProviderStates, stored: ProviderStates = watched, isReady = true) {
  const sessions = new Map(
    [session('1', 'corp'), session('2', ''), session('3', 'other'), session('4', 'corp', 'logout')].map(
      each => [each.sid, each],
    ),
  )
  let reads = 0
  const keeper = createProviderReconciler({
    providers: {
      isReady,
      stateOf: name => watched[name] ?? 'gone',
      async readStates() {
        reads++
        return name => stored[name] ?? 'gone'
      },
    },
    sessions: {
      all: () => sessions.values(),
      read: async sid => sessions.get(sid),
      async update(changed) {
        sessions.set(changed.sid, changed)
        return true
      },
    },
    logger: silent,
  })
  await keeper.check()
  return { ends: [...sessions.values()].map(({ ended }) => ended), reads }
}

describe('createProviderReconciler', () => {
  const none = ['', '', '', 'logout']
  const rows: readonly [string, ProviderStates, readonly string[]][] = [
    ['keeps the sessions of usable providers', { corp: 'usable', other: 'usable' }, none],
    [
      'ends the sessions of a removed provider',
      { other: 'usable' },
      ['identity provider removed', '', '', 'logout'],
    ],
    [
      'ends the sessions of a disabled provider',
      { corp: 'usable', other: 'disabled' },
      ['', '', 'identity provider disabled', 'logout'],
    ],
    [
      'keeps the sessions of a provider whose Secret may be invalid',
      { corp: 'unknown', other: 'usable' },
      none,
    ],
  ]
  for (const [what, standings, ends] of rows)
    it(what, async () => expect((await endsOf(standings)).ends).to.deep.equal(ends))

  it('reads from kube-apiserver before it ends sessions, and trusts the response', async () => {
    const usable = { corp: 'usable', other: 'usable' } as const
    expect(await endsOf(usable)).to.deep.equal({ ends: none, reads: 0 })
    expect(await endsOf({}, usable)).to.deep.equal({ ends: none, reads: 1 })
  })

  it('ends no session before the providers are loaded', async () => {
    expect(await endsOf({}, {}, false)).to.deep.equal({ ends: none, reads: 0 })
  })
})
