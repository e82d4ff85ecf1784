import { expect } from 'chai'
import { rejectedStatus } from '../../apierrors/fixtures.ts'
import { expired } from '../../apierrors/status.ts'
import { assertCurrent, type ObjectVisibility, readCurrent } from './object-visibility.ts'

describe('readCurrent', () => {
  /** Permissions that change before each of the first `changes` responses. */
  function changing(changes: number): ObjectVisibility {
    return {
      key: String(changes),
      has: () => true,
      onChange: () => () => undefined,
      permissions: {
        isCurrent: () => changes === 0,
        mayStillSee: () => false,
        renew: async () => changing(changes - 1),
      },
    }
  }

  for (const changes of [0, 1, 3]) {
    it(`responds with the last permissions after ${changes} changes`, async () => {
      const sent: (string | undefined)[] = []
      await readCurrent(changing(changes), visible => {
        assertCurrent(visible)
        sent.push(visible?.key)
      })
      expect(sent).to.deep.equal(['0'])
    })
  }

  it('is 503 with Retry-After if the permissions change each time', async () => {
    const status = await rejectedStatus(readCurrent(changing(4), assertCurrent))
    expect(status).to.include({ code: 503, message: 'the namespaces you may see keep changing; retry later' })
    expect(status.headers).to.deep.equal({ 'retry-after': '1' })
  })

  it('passes on the 410 of a continued list', async () => {
    const status = await rejectedStatus(
      readCurrent(changing(0), () => {
        throw expired('too old')
      }),
    )
    expect(status).to.include({ code: 410, message: 'too old' })
  })
})
