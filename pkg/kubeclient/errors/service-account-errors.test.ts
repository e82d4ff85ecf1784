import { expect } from 'chai'
import { rejectedStatus, toErrorFields } from '../../apierrors/fixtures.ts'
import { type FakeKubeApiserver, respondJson, startFakeKubeApiserver } from '../fixtures.ts'
import { withServiceAccountErrors } from './service-account-errors.ts'

describe('withServiceAccountErrors', () => {
  let fake: FakeKubeApiserver | undefined
  afterEach(() => fake?.close())

  const ofRights =
    'sessions.iam.kapis.io is forbidden: User "kapis" cannot create resource "sessions" in API group'

  async function send(code: number, how: 'call' | 'stream', message = ofRights) {
    const body = { kind: 'Status', code, reason: 'Forbidden', message }
    fake = await startFakeKubeApiserver((_req, res) => respondJson(res, code, body))
    const client = withServiceAccountErrors(fake.client)
    return rejectedStatus(how === 'call' ? client.call({ path: '/x' }) : client.stream({ path: '/x' }))
  }

  for (const code of [401, 403, 500, 502, 504]) {
    for (const how of ['call', 'stream'] as const) {
      it(`${how}: throws 503 for ${code}, and keeps the original message for the log`, async () => {
        const status = await send(code, how)
        expect(toErrorFields(status)).to.deep.equal({
          code: 503,
          reason: 'ServiceUnavailable',
          message: 'kube-apiserver did not serve the request of Kapis; retry later',
        })
        expect(status.headers).to.deep.equal({ 'retry-after': '1' })
        expect(status.cause).to.include({ code })
      })
    }
  }

  for (const code of [400, 404, 409, 410, 422, 429, 503]) {
    it(`passes on ${code} unchanged`, async () => {
      expect(await send(code, 'call')).to.include({ code, message: ofRights })
    })
  }

  it('throws 503 for a write before admission is ready', async () => {
    const message = 'sessions.iam.kapis.io "a" is forbidden: not yet ready to handle request'
    expect(await send(403, 'call', message)).to.include({ code: 503 })
  })

  it('passes on the 403 of an admission webhook unchanged', async () => {
    const message = 'admission webhook "a.example.org" denied the request: no users on Sundays'
    expect(await send(403, 'call', message)).to.include({ code: 403, message })
  })

  it('returns the response', async () => {
    fake = await startFakeKubeApiserver((_req, res) => respondJson(res, 200, { a: 1 }))
    expect(await withServiceAccountErrors(fake.client).call({ path: '/x' })).to.deep.equal({ a: 1 })
  })
})
