import { expect } from 'chai'
import { Status } from '../../../../apierrors/status.ts'
import { startLoopback, toExchange } from '../../../../apirequest/fixtures.ts'
import type { UserPermissions } from '../../../../iam/users/required-permissions.ts'
import { deleteFactors } from './factors.ts'

const stored = {
  metadata: { name: 'jane', uid: 'u1', resourceVersion: '1', creationTimestamp: '' },
  spec: { groups: ['ops'] },
}

describe('deleteFactors', () => {
  for (const [name, method, query, isAllowed, code, done] of [
    [
      'removes the factors, then ends the sessions',
      'DELETE',
      '',
      true,
      200,
      ['remove u1', 'end', 'audit jane'],
    ],
    ['does nothing in a dry run', 'DELETE', '?dryRun=All', true, 200, []],
    ['does nothing for a caller who may not impersonate the user', 'DELETE', '', false, 403, []],
    ['accepts only DELETE', 'GET', '', true, 405, []],
    ['accepts only dryRun=All', 'DELETE', '?dryRun=yes', true, 400, []],
  ] as const)
    it(name, async () => {
      const steps: string[] = []
      const permissions: UserPermissions[] = []
      const settled = Promise.withResolvers<unknown>()
      const server = await startLoopback(async (req, res) => {
        const options = {
          writer: { read: async () => stored },
          removeFactors: async ({ uid }: { uid: string }) => void steps.push(`remove ${uid}`),
          endLogins: async () => void steps.push('end'),
          permitOf: () => async (_name: string, asked: UserPermissions) => {
            permissions.push(asked)
            if (!isAllowed) throw new Status(403, 'Forbidden', 'no')
          },
          audit: (_exchange: unknown, _action: string, user: string) => void steps.push(`audit ${user}`),
        }
        const outcome = await deleteFactors(options, toExchange(req, res)).then(
          () => ({ code: res.statusCode }),
          error => error,
        )
        settled.resolve(outcome)
        res.end()
      })
      try {
        await fetch(
          `http://127.0.0.1:${server.port}/kapis/iam.kapis.io/v1alpha2/users/jane/factors${query}`,
          {
            method,
          },
        )
        expect(await settled.promise).to.include({ code })
        expect(steps).to.deep.equal(done)
        for (const right of permissions)
          expect(right).to.deep.equal({ subresources: [], groups: ['ops'], user: 'always', anyGroup: false })
      } finally {
        await server.close()
      }
    })
})
