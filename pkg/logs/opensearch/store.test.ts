import { createServer, type Server } from 'node:http'
import { expect } from 'chai'
import { rejectedStatus } from '../../apierrors/fixtures.ts'
import { closeServer, portOf } from '../../apirequest/fixtures.ts'
import { createTimeSlices } from '../../scheduling/time-slices.ts'
import { createLogger } from '../../telemetry/logger.ts'
import type { LogStore } from '../store.ts'
import { createOpenSearchStore } from './store.ts'

const reason = (type: string, text: string) => ({ error: { type, reason: text } })
const unknownType = reason(
  'mapper_parsing_exception',
  'No handler for type [wildcard] declared on field [raw]',
)

// Uses a fake search engine, for rejections that a real one of one version does not have.
describe('createOpenSearchStore', () => {
  let server: Server | undefined
  let store: LogStore | undefined
  afterEach(async () => {
    await store?.close()
    if (server) await closeServer(server)
  })

  /** @param respond returns the response to a request for the index template */
  async function start(respond: (template: string) => readonly [number, object]) {
    const templates: string[] = []
    server = createServer(async (req, res) => {
      const body = Buffer.concat(await req.toArray()).toString()
      const isTemplate = req.url?.startsWith('/_index_template/') === true
      if (isTemplate) templates.push(/"raw":\{"type":"(\w+)"/.exec(body)?.[1] ?? '')
      const [code, response] = isTemplate
        ? respond(body)
        : [200, { errors: false, items: [{ create: { status: 201 } }] }]
      res.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(response))
    })
    const { promise, resolve } = Promise.withResolvers<void>()
    server.listen(0, '127.0.0.1', resolve)
    await promise
    const engine = { url: `http://127.0.0.1:${portOf(server)}`, username: '', ca: '' }
    const started = createOpenSearchStore({
      ...{ engine, credentials: { password: '', apiKey: '' }, prefix: 'kapis', setUpAgainMs: 60_000 },
      ...{ logger: createLogger({ program: 'test', level: 'error' }), timeSlices: createTimeSlices() },
    })
    store = started
    const record = { timeNs: 1n, log: 'a', namespace: 'n', pod: 'p', container: 'c', host: '', dockerId: '' }
    return { templates, append: () => started.append({ records: [record] }) }
  }

  it('uses keyword for engines without the type wildcard', async () => {
    const { templates, append } = await start(template =>
      template.includes('wildcard') ? [400, unknownType] : [200, { acknowledged: true }],
    )
    await append()
    await append()
    expect(templates).to.deep.equal(['wildcard', 'keyword'])
  })

  for (const [code, why] of [
    [400, 'a conflict with another template'],
    [403, 'a missing permission'],
  ] as const) {
    it(`stores lines without the index template after ${why}`, async () => {
      const { templates, append } = await start(() => [code, reason('illegal_argument_exception', why)])
      await append()
      await append()
      expect(templates).to.deep.equal(['wildcard', 'keyword'])
    })
  }

  for (const code of [429, 500]) {
    it(`stores nothing until the index template exists after ${code}, which may be temporary`, async () => {
      const { templates, append } = await start(() => [code, reason('x', 'y')])
      expect((await rejectedStatus(append())).code).to.equal(code === 429 ? 429 : 503)
      await rejectedStatus(append())
      expect(templates).to.deep.equal(['wildcard', 'wildcard'])
    })
  }
})
