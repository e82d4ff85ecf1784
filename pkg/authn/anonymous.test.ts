import { expect } from 'chai'
import { Status, unavailable } from '../apierrors/status.ts'
import { anonymous, type Identity } from '../apirequest/identity/identity.ts'
import { createAnonymousCheck, withAnonymousCheck } from './anonymous.ts'

const jane: Identity = { username: 'jane', uid: '', groups: [], extra: {} }
const req = Object.create(null)

describe('a request without a credential', () => {
  const responses: readonly (readonly [what: string, respond: () => unknown, allowed: boolean | 503])[] = [
    ['403', () => Promise.reject(new Status(403, 'Forbidden', 'no')), true],
    ['404', () => Promise.reject(new Status(404, 'NotFound', 'no')), true],
    ['200', () => Promise.resolve({}), true],
    ['401', () => Promise.reject(new Status(401, 'Unauthorized', 'no')), false],
    ['503', () => Promise.reject(unavailable('no')), 503],
    ['nothing', () => Promise.reject(new Error('no')), 503],
  ]
  for (const [what, respond, allowed] of responses) {
    it(`${allowed === 503 ? 'fails with 503' : allowed ? 'is allowed' : 'is rejected'} if kube-apiserver responds with ${what}`, async () => {
      const paths: string[] = []
      const check = createAnonymousCheck({
        call: async ({ path }) => {
          paths.push(path)
          return respond()
        },
      })
      const outcome = async () => check().catch(error => error.code)
      expect(await Promise.all([outcome(), outcome()])).to.deep.equal([allowed, allowed])
      expect(await outcome()).to.equal(allowed)
      // All callers share one request.
      expect(paths).to.deep.equal(['/kapis'])
    })
  }

  it('is rejected with 401 if it is not allowed, without a request to kube-apiserver for other callers', async () => {
    const found = { identity: anonymous, method: 'anonymous' }
    const refusing = withAnonymousCheck(
      () => found,
      async () => false,
    )
    const error = await Promise.resolve(refusing(req)).catch(reason => reason)
    expect([error.code, error.message]).to.deep.equal([401, 'Unauthorized'])
    const waiting = withAnonymousCheck(
      async () => found,
      async () => true,
    )
    expect(await waiting(req)).to.equal(found)
    const known = { identity: jane, method: 'token-review' }
    const unasked = () => Promise.reject(new Error('asked'))
    expect(withAnonymousCheck(() => known, unasked)(req)).to.equal(known)
    expect(await withAnonymousCheck(async () => known, unasked)(req)).to.equal(known)
  })
})
