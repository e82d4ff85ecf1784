import { expect } from 'chai'
import { Status, unavailable } from '../../pkg/apierrors/status.ts'
import type { KubeClient } from '../../pkg/kubeclient/client.ts'
import { createRetryingClient } from './retrying-client.ts'

describe('createRetryingClient', () => {
  const tooMany = new Status(429, 'TooManyRequests', 'later')
  const absent = new Status(404, 'NotFound', 'none of that name')

  /** Returns a client that fails once with each error, and then responds. */
  function failing(...errors: readonly Error[]) {
    let calls = 0
    const client: KubeClient = {
      call: () => {
        const error = errors[calls++]
        return error === undefined ? Promise.resolve('done') : Promise.reject(error)
      },
      stream: () => Promise.reject(absent),
      close: () => undefined,
    }
    const send = (withinMs: number) =>
      createRetryingClient(client, { withinMs, everyMs: 1 })
        .call({ path: '/' })
        .catch(error => error)
    return { ask: send, calls: () => calls }
  }

  it('retries without a response, and after Retry-After', async () => {
    const { ask: send, calls } = failing(unavailable('kube-apiserver is not responding'), tooMany)
    expect([await send(60_000), calls()]).to.deep.equal(['done', 3])
  })

  it('returns other error responses without a retry', async () => {
    const { ask: send, calls } = failing(absent)
    expect([await send(60_000), calls()]).to.deep.equal([absent, 1])
  })

  it('returns the last error when its time is up', async () => {
    const { ask: send } = failing(...Array.from({ length: 1000 }, () => tooMany))
    expect(await send(5)).to.equal(tooMany)
  })
})
