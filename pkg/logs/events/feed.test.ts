import { expect } from 'chai'
import { silent } from '../../iam/fixtures.ts'
import { answerJson, type FakeOrchestrator, startFakeOrchestrator, until } from '../../kube/fixtures.ts'
import { createMemoryStore } from '../fixtures.ts'
import { EventFeed } from './feed.ts'
import { kubeEvent } from './fixtures.ts'
import { toKubeEventRecord } from './kube-event.ts'

describe('EventFeed', () => {
  let fake: FakeOrchestrator | undefined
  let feed: EventFeed | undefined
  afterEach(async () => {
    await feed?.stop()
    await fake?.close()
  })

  it('hands on each writing of each event that the store does not have', async () => {
    const old = kubeEvent('old', 1)
    const store = createMemoryStore([toKubeEventRecord(old)])
    const watched = [
      { type: 'MODIFIED', object: kubeEvent('new', 4, { count: 2 }) },
      { type: 'DELETED', object: kubeEvent('old', 5) },
      { type: 'ADDED', object: kubeEvent('later', 6) },
    ]
    let isWatched = false
    fake = await startFakeOrchestrator((req, res) => {
      if (new URL(req.url ?? '', 'http://x').searchParams.get('watch') !== 'true') {
        const metadata = { resourceVersion: '3' }
        const items = [old, kubeEvent('new', 2)]
        return answerJson(res, 200, { kind: 'EventList', apiVersion: 'v1', metadata, items })
      }
      res.writeHead(200, { 'content-type': 'application/json' })
      res.flushHeaders()
      if (!isWatched) res.write(watched.map(event => `${JSON.stringify(event)}\n`).join(''))
      isWatched = true
    })
    const written: string[] = []
    feed = new EventFeed({
      client: fake.client,
      store,
      write: ({ id }) => written.push(id),
      logger: silent,
    })
    feed.start()
    await until(() => written.length >= 3)
    expect(written).to.deep.equal(['uid-new/2', 'uid-new/4', 'uid-later/6'])
  })
})
