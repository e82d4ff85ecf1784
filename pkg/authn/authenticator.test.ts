import { expect } from 'chai'
import { rejectedStatus } from '../apierrors/fixtures.ts'
import { Status, unavailable } from '../apierrors/status.ts'
import { jane } from '../apirequest/fixtures.ts'
import { createUnion } from './authenticator.ts'
import { receiveRequest } from './fixtures.ts'

describe('createUnion', () => {
  const says = (name: string, result: () => typeof jane | null) => ({ name, authenticate: result })
  const broken = () => {
    throw new Status(401, 'Unauthorized', 'Unauthorized')
  }

  it('returns the first identity that an authenticator finds, even after an invalid credential', async () => {
    const outcomes: string[] = []
    const union = createUnion(
      [says('a', () => null), says('b', broken), says('c', () => jane)],
      (method, result) => {
        outcomes.push(`${method} ${result}`)
      },
    )
    expect(await union(await receiveRequest([]))).to.deep.equal({ identity: jane, method: 'c' })
    expect(outcomes).to.deep.equal(['b failure', 'c success'])
  })

  it('returns the anonymous identity without a credential, and 401 for an invalid one', async () => {
    const req = await receiveRequest([])
    const none = createUnion([says('a', () => null)], () => undefined)
    expect((await none(req)).identity.username).to.equal('system:anonymous')
    const bad = createUnion([says('a', broken), says('b', () => null)], () => undefined)
    expect(await rejectedStatus((async () => bad(req))())).to.include({ code: 401, message: 'Unauthorized' })
  })

  it('rejects an identity that cannot be forwarded unchanged, even if another authenticator succeeds', async () => {
    const outcomes: string[] = []
    const blank = { ...jane, groups: [' system:masters'] }
    const union = createUnion([says('a', () => blank), says('b', () => jane)], (method, result) => {
      outcomes.push(`${method} ${result}`)
    })
    const message =
      'the identity from a authentication cannot be used: group " system:masters" must not begin or end with a space or a tab'
    for (const _ of [1, 2]) {
      const req = await receiveRequest([])
      expect(await rejectedStatus((async () => union(req))())).to.include({
        code: 403,
        reason: 'Forbidden',
        message,
      })
    }
    expect(outcomes).to.deep.equal(['a failure', 'a failure'])
  })

  it('stops at an authenticator that fails', async () => {
    const down = () => {
      throw unavailable('down')
    }
    const union = createUnion([says('a', down), says('b', () => jane)], () => undefined)
    expect(await rejectedStatus((async () => union(await receiveRequest([])))())).to.include({ code: 503 })
  })
})
