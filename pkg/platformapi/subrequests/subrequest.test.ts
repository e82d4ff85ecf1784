import { once } from 'node:events'
import { expect } from 'chai'
import { type Loopback, startLoopback, toExchange } from '../../apirequest/fixtures.ts'
import { createLineReader } from '../../apirequest/request-line.ts'
import { isOver } from '../../httpserver/response/respond.ts'
import { createCollectList } from './subrequest.ts'

describe('createCollectList', () => {
  let loopback: Loopback | undefined
  afterEach(() => loopback?.close())

  it('ends the list when the response of the parent request ends', async () => {
    const observed = Promise.withResolvers<readonly boolean[]>()
    loopback = await startLoopback(async (req, res) => {
      const states: boolean[] = []
      const collect = createCollectList({
        readLine: createLineReader(),
        async serveList(part) {
          states.push(isOver(part.res))
          res.end('{}')
          await once(res, 'close')
          states.push(isOver(part.res))
        },
      })
      await collect(toExchange(req, res), '/kapi/v1/pods').catch(() => undefined)
      observed.resolve(states)
    })
    await loopback.get('/')
    expect(await observed.promise).to.deep.equal([false, true])
  })
})
