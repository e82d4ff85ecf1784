import { expect } from 'chai'
import { rejectedStatus } from '../../../../apierrors/fixtures.ts'
import { Status } from '../../../../apierrors/status.ts'
import { startLoopback, toExchange } from '../../../../apirequest/fixtures.ts'
import type { PasswordVerdict } from '../../../../iam/passwords/password-check.ts'
import { putPassword } from './password.ts'

const json = { 'content-type': 'application/json' }
const body = JSON.stringify({ currentPassword: 'Something 1', password: 'Another one 1' })
const path = '/kapis/iam.kapis.io/v1alpha2/users/jane/password'

describe('putPassword', () => {
  const wrong = { outcome: 'wrong', user: undefined } as const
  const rows: readonly [PasswordVerdict, boolean, number, string][] = [
    [wrong, true, 400, 'wrong_password'],
    [wrong, false, 400, 'wrong_password'],
    [{ outcome: 'locked', user: undefined, retryAfterSeconds: 9 }, true, 429, 'locked'],
  ]
  for (const [verdict, isOwn, code, reason] of rows) {
    const whose = isOwn ? 'of the caller' : 'of another user'
    it(`audits a current password ${whose} that is ${verdict.outcome}, and changes nothing`, async () => {
      const events: unknown[] = []
      const changed: unknown[] = []
      const setPassword = async (...args: readonly [string, string, { readonly isDryRun: boolean }]) => {
        if (!args[2].isDryRun) changed.push(args)
      }
      const refused = Promise.withResolvers<unknown>()
      const server = await startLoopback(async (req, res) => {
        const options = {
          groupDomain: 'kapis.io',
          writer: { setPassword },
          passwords: { check: async () => verdict },
          sourceOf: () => ({ address: '192.0.2.1', userAgent: '' }),
          isOwn: () => isOwn,
          permitOf: () => async () => undefined,
          audit: (_exchange: unknown, ...event: readonly unknown[]) => void events.push(event),
        }
        refused.resolve(await rejectedStatus(putPassword(options, toExchange(req, res))))
        res.end()
      })
      try {
        await fetch(`http://127.0.0.1:${server.port}${path}`, { method: 'PUT', headers: json, body })
        expect(await refused.promise).to.include({ code })
        expect(events).to.deep.equal([['set password', 'jane', reason]])
        expect(changed).to.deep.equal([])
      } finally {
        await server.close()
      }
    })
  }
  it('does not check the current password for a caller who may not set it', async () => {
    const refused = Promise.withResolvers<unknown>()
    const server = await startLoopback(async (req, res) => {
      const denied = () => Promise.reject(new Status(403, 'Forbidden', 'denied'))
      const options = {
        groupDomain: 'kapis.io',
        writer: { setPassword: denied },
        passwords: { check: () => Promise.reject(new Error('checked')) },
        sourceOf: () => ({ address: '192.0.2.1', userAgent: '' }),
        isOwn: () => false,
        permitOf: () => denied,
        audit: () => undefined,
      }
      refused.resolve(await rejectedStatus(putPassword(options, toExchange(req, res))))
      res.end()
    })
    try {
      await fetch(`http://127.0.0.1:${server.port}${path}`, { method: 'PUT', headers: json, body })
      expect(await refused.promise).to.include({ code: 403 })
    } finally {
      await server.close()
    }
  })
})
