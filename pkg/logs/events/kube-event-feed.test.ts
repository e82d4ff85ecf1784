import { expect } from 'chai'
import { unavailable } from '../../apierrors/status.ts'
import { silent } from '../../iam/fixtures.ts'
import {
  type FakeKubeApiserver,
  respondJson,
  startFakeKubeApiserver,
  until,
} from '../../kubeclient/fixtures.ts'
import { createMemoryStore } from '../fixtures.ts'
import type { LogStore } from '../store.ts'
import { kubeEvent, kubeEventRecord } from './fixtures.ts'
import { EventFeed } from './kube-event-feed.ts'

describe('EventFeed', () => {
  let fake: FakeKubeApiserver | undefined
  let feed: EventFeed | undefined
  afterEach(async () => {
    await feed?.stop()
    await fake?.close()
  })

  const old = kubeEvent('old', 1)

  /** Runs a feed whose list has `old`, new/2 and waits/3, followed by the watched events. */
  async function follow(store: LogStore): Promise<readonly string[]> {
    const watched = [
      { type: 'MODIFIED', object: kubeEvent('new', 4, { count: 2 }) },
      { type: 'DELETED', object: kubeEvent('old', 5) },
      { type: 'ADDED', object: kubeEvent('later', 6) },
    ]
    let isWatched = false
    fake = await startFakeKubeApiserver((req, res) => {
      if (new URL(req.url ?? '', 'http://x').searchParams.get('watch') !== 'true') {
        const metadata = { resourceVersion: '3' }
        const items = [old, kubeEvent('new', 2), kubeEvent('waits', 3)]
        return respondJson(res, 200, { kind: 'EventList', apiVersion: 'v1', metadata, items })
      }
      res.writeHead(200, { 'content-type': 'application/json' })
      res.flushHeaders()
      if (!isWatched) res.write(watched.map(event => `${JSON.stringify(event)}\n`).join(''))
      isWatched = true
    })
    const written: string[] = []
    const writer = {
      write: ({ id }: { readonly id: string }) => void written.push(id),
      waiting: () => ['uid-waits/3'],
    }
    feed = new EventFeed({ client: fake.client, store, writer, logger: silent })
    feed.start()
    return written
  }

  it('forwards each version of each event that is neither stored nor pending', async () => {
    const written = await follow(createMemoryStore([kubeEventRecord(old)]))
    await until(() => written.length >= 3)
    expect(written.toSorted()).to.deep.equal(['uid-later/6', 'uid-new/2', 'uid-new/4'])
  })

  it('forwards all listed events if the store cannot report which are already stored', async () => {
    const away = { ...createMemoryStore([]), query: () => Promise.reject(unavailable('away')) }
    const written = await follow(away)
    await until(() => written.length >= 2)
    expect(written).to.deep.equal(['uid-new/4', 'uid-later/6'])
  })
})
