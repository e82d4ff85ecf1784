import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { Status } from '../../apierrors/status.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { lastAppliedAnnotation } from '../../kubeclient/object/last-applied.ts'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { toUser } from '../users/user.ts'
import { createPasswordMigration } from './password-migration.ts'

const hash = `$2b$10$${'a'.repeat(53)}`
const minute = 60_000
/** When the existing Secrets were created; the rollout begins at 0. */
const before = -11 * minute

function userOf(name: string, spec: object, annotations: Readonly<Record<string, string>> = {}): KubeObject {
  const metadata = { name, uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: '', annotations }
  return { apiVersion: 'iam.kapis.io/v1alpha2', metadata, spec }
}

describe('createPasswordMigration', () => {
  function make(objects: readonly KubeObject[], options: { sinceMs?: number; fail?: number } = {}) {
    const { sinceMs = Number.POSITIVE_INFINITY, fail = 0 } = options
    const written: unknown[] = []
    const byName = new Map(objects.map(object => [object.metadata.name, object]))
    const client: KubeClient = {
      async call({ method, path, body }) {
        const name = path.slice(path.lastIndexOf('/') + 1)
        if (method === 'PATCH') patched.push([name, body])
        return byName.get(name)
      },
      stream: () => Promise.reject(new Error('not used')),
      close: () => undefined,
    }
    const tidied: string[] = []
    const patched: unknown[] = []
    const state = { nowMs: 0 }
    const mover = createPasswordMigration({
      client,
      groupDomain: 'kapis.io',
      users: { all: () => [...byName.values()].map(toUser) },
      store: {
        sinceMs,
        async tidy({ name }) {
          tidied.push(name)
          if (fail !== 0) throw new Status(fail, 'Conflict', '')
        },
      },
      async write(user, given, annotations) {
        if (fail !== 0 && user.name === 'old') throw new Status(fail, 'Conflict', '')
        written.push([user.name, given, annotations])
        return userOf(user.name, {})
      },
      logger: createLogger({ program: 'test', level: 'error' }),
      now: () => state.nowMs,
    })
    const add = (object: KubeObject) => void byName.set(object.metadata.name, object)
    return { mover, written, patched, tidied, state, add }
  }
  const old = userOf('old', { email: 'o@kapis.io', password: hash })
  const moved = userOf('moved', { email: 'm@kapis.io', credential: 'c' })

  it('moves every hash from a User, including kubectl’s last-applied annotation', async () => {
    const applied = JSON.stringify({ kind: 'User', spec: { email: 'k@kapis.io', password: hash } })
    const byKubectl = userOf('kubectl', { password: hash }, { [lastAppliedAnnotation]: applied })
    const broken = userOf('broken', { password: hash }, { [lastAppliedAnnotation]: `{"${hash}` })
    const kept =
      '{"kind":"User","z":[1.0,9007199254740993],"10":"\\u003c","9":"","spec":{"email":"k@kapis.io"}}'
    const odd = kept.replace('"spec":{', `"spec":{"p\\u0061ssword":"${hash}","password":"${hash}",`)
    const byOther = userOf('other', { password: hash }, { [lastAppliedAnnotation]: odd })
    const { mover, written } = make([old, moved, byKubectl, broken, byOther], { sinceMs: before })
    await mover.sweep()
    const without = JSON.stringify({ kind: 'User', spec: { email: 'k@kapis.io' } })
    expect(written).to.deep.equal([
      ['old', hash, {}],
      ['kubectl', hash, { [lastAppliedAnnotation]: without }],
      ['broken', hash, { [lastAppliedAnnotation]: null }],
      ['other', hash, { [lastAppliedAnnotation]: kept }],
    ])
  })

  it('removes a hash that is only in kubectl’s last-applied annotation', async () => {
    const applied = JSON.stringify({ spec: { email: 'k@kapis.io', password: hash } })
    const kept = userOf('kept', { credential: 'c' }, { [lastAppliedAnnotation]: applied })
    const { mover, written, patched } = make([kept], { sinceMs: before })
    await mover.sweep()
    const annotations = { [lastAppliedAnnotation]: '{"spec":{"email":"k@kapis.io"}}' }
    const metadata = { uid: 'uid-kept', resourceVersion: '1', annotations }
    expect([written, patched]).to.deep.equal([[], [['kept', { metadata }]]])
  })

  for (const [what, sinceMs] of [
    ['', Number.POSITIVE_INFINITY],
    [', even if a password changes in the meantime', -5 * minute],
  ] as const)
    it(`keeps hashes of an older release during the rollout, for ten minutes${what}`, async () => {
      const { mover, written, state } = make([old], { sinceMs })
      for (const nowMs of [0, 5 * minute, 10 * minute - 1]) {
        state.nowMs = nowMs
        mover.changed(toUser(old))
        await mover.sweep()
      }
      expect(written).to.deep.equal([])
      state.nowMs = 10 * minute
      await mover.sweep()
      expect(written).to.deep.equal([['old', hash, {}]])
    })

  for (const [what, sinceMs] of [
    ['a new installation', 0],
    ['an installation whose hashes were moved before', before],
  ] as const)
    it(`moves later hashes immediately: in ${what}`, async () => {
      const { mover, written, add } = make([moved], { sinceMs })
      // Ignored: before the first run it is unknown whether Secrets exist.
      mover.changed(toUser(old))
      await mover.sweep()
      expect(written).to.deep.equal([])
      add(old)
      mover.changed(toUser(old))
      mover.changed(toUser(moved))
      mover.changed(undefined)
      await turn()
      expect(written).to.deep.equal([['old', hash, {}]])
    })

  for (const fail of [404, 409, 422, 503])
    it(`continues with other users when one fails: ${fail}`, async () => {
      const other = userOf('other', { email: 'o2@kapis.io', password: hash })
      const { mover, written, tidied } = make([old, other], { sinceMs: before, fail })
      await mover.sweep()
      expect(written).to.deep.equal([['other', hash, {}]])
      expect(tidied).to.deep.equal(['old', 'other'])
    })

  it('moves many concurrent hashes in sequence', async () => {
    const names = Array.from({ length: 50 }, (_, i) => `u${i}`)
    const { mover, written, add } = make([moved], { sinceMs: before })
    await mover.sweep()
    for (const name of names) {
      const user = userOf(name, { password: hash })
      add(user)
      mover.changed(toUser(user))
    }
    expect(written).to.have.length.below(2)
    for (let i = 0; i < 100; i++) await turn()
    expect(written).to.deep.equal(names.map(name => [name, hash, {}]))
  })
})
