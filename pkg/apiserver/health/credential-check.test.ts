import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { unauthorized, unavailable } from '../../apierrors/status.ts'
import { checkCredential } from './credential-check.ts'

describe('checkCredential', () => {
  const over = new AbortController()
  after(() => over.abort())

  /** A kube-apiserver with a sequence of responses, the last of which is repeated. */
  function follow(...outcomes: readonly (Error | object)[]) {
    let requestCount = 0
    const call = async () => {
      const outcome = outcomes[Math.min(requestCount++, outcomes.length - 1)]
      if (outcome instanceof Error) throw outcome
      return outcome
    }
    const check = checkCredential({ client: { call }, signal: over.signal, everyMs: 5, againMs: 5 })
    const untilAsked = async (times: number) => {
      while (requestCount <= times) await sleep(1)
    }
    return { check, untilAsked }
  }
  const refused = unauthorized(new Error('expired'))
  const message = 'kube-apiserver rejects the credential of Kapis'
  const rows: readonly (readonly [string, readonly (Error | object)[], string | undefined])[] = [
    ['succeeds while the credential is accepted', [{}, {}, {}], undefined],
    ['succeeds after one rejection', [refused, {}], undefined],
    ['fails after two rejections', [refused, refused], message],
    ['succeeds again once the credential is accepted', [refused, refused, refused, {}], undefined],
    [
      'keeps its result while kube-apiserver does not respond',
      [refused, refused, unavailable('down')],
      message,
    ],
    ['does not count a missing response as a rejection', [unavailable('down')], undefined],
  ]
  for (const [title, outcomes, expected] of rows)
    it(title, async () => {
      const { check, untilAsked } = follow(...outcomes)
      await untilAsked(outcomes.length + 1)
      expect([check.name, check.problem()]).to.deep.equal(['credential', expected])
    })
})
