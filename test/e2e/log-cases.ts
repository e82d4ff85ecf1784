import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { writeVarint } from '../../pkg/logs/ingest/otlp/wire.ts'
import {
  type Answer,
  accessToken,
  askKapis,
  kubectl,
  kubectlOutput,
  makeNamespace,
  tokenOf,
  uniqueName,
} from './cluster.ts'
import { askAs, eventually, groupDomain, statusBody } from './http.ts'
import { createUser, removeUser } from './oauth.ts'
import { follow, output, scratch, setting } from './run.ts'

const tenant = `/kapis/tenant.${groupDomain}/v1alpha2/logs`
const logging = `/kapis/logging.${groupDomain}/v1alpha2`
const foundWithinMs = 30_000

type Wire = {
  readonly path: string
  readonly headers: readonly string[]
  readonly body: (log: string) => Buffer
}

/**
 * The log API as its users meet it.
 *
 * @param title of the store behind it
 * @param base the front that has the store, once it is there
 */
export function describeLogs(title: string, base: () => string): void {
  describe(`logs in ${title}`, function () {
    this.timeout(120_000)

    const mine = uniqueName('logs')
    const others = `${mine}-others`
    const token = { admin: '', reader: '', nobody: '', shipper: '' }
    let created = 0

    before(async () => {
      await makeNamespace(mine, ['reader', 'nobody', 'shipper'])
      await makeNamespace(others, [])
      created = Math.floor(Date.now() / 1000)
      await kubectlOutput(
        '-n',
        mine,
        'create',
        'rolebinding',
        'reader',
        '--clusterrole=view',
        `--serviceaccount=${mine}:reader`,
      )
      await kubectlOutput(
        'create',
        'clusterrolebinding',
        mine,
        '--clusterrole=kapis:log-shipper',
        `--serviceaccount=${mine}:shipper`,
      )
      token.admin = await accessToken()
      for (const name of ['reader', 'nobody', 'shipper'] as const) token[name] = await tokenOf(mine, name)
      await send(lines(20))
      await eventually(
        async () => expect((await query(`namespaces=${mine}&q=ordinary`)).total).to.equal(20),
        foundWithinMs,
      )
    })

    after(async () => {
      await kubectl('delete', 'clusterrolebinding', mine)
      await kubectl('delete', 'namespace', mine, others, '--wait=false')
    })

    /** Nanoseconds of now, written out. */
    function rfc3339(at = Date.now(), nanos = '000001'): string {
      return new Date(at).toISOString().replace('Z', `${nanos}Z`)
    }

    function document(log: string, given: { time?: string; namespace?: string; pod?: string } = {}): object {
      const { time = rfc3339(), namespace = mine, pod = 'web-0' } = given
      const names = {
        namespace_name: namespace,
        pod_name: pod,
        container_name: 'web',
        docker_id: `${pod}-web`,
      }
      return { time, log, kubernetes: { ...names, host: 'worker-1', labels: { app: 'web' } } }
    }

    function lines(count: number): string {
      const at = Date.now()
      return Array.from({ length: count }, (_, i) => {
        const log = `ordinary line ${i} of ${count}\n`
        return JSON.stringify(document(log, { time: rfc3339(at + i), pod: `web-${i % 2}` }))
      }).join('\n')
    }

    function ask(who: keyof typeof token, path: string): Promise<Answer> {
      return askAs(token[who], `${base()}${path}`)
    }

    async function query(parameters: string, who: keyof typeof token = 'admin') {
      const answer = await ask(who, `${tenant}?${parameters}`)
      expect(answer.code, answer.body).to.equal(200)
      return JSON.parse(answer.body).query
    }

    /** curl --data-binary, as people and agents without a library send. */
    async function curl(
      path: string,
      body: Buffer | string,
      headers: readonly string[] = [],
      who: keyof typeof token = 'shipper',
    ) {
      const file = join(scratch, uniqueName('body'))
      writeFileSync(file, body)
      const args = [
        '-sS',
        '--cacert',
        setting('KAPIS_CA'),
        '-w',
        '\n%{http_code}',
        '--data-binary',
        `@${file}`,
      ]
      const all = [`authorization: Bearer ${token[who]}`, ...headers].flatMap(header => ['-H', header])
      const printed = await output('curl', [...args, ...all, `${front()}${logging}/ingest${path}`])
      const [code = '', ...rest] = printed.split('\n').toReversed()
      return { code: Number(code), body: rest.toReversed().join('\n') }
    }

    const front = () => base() || setting('KAPIS_URL')

    async function send(text: string): Promise<void> {
      const { code, body } = await curl('/jsonlines', text)
      expect(code, body).to.equal(200)
    }

    const otlp = (log: string) => ({
      resourceLogs: [
        {
          resource: {
            attributes: [
              { key: 'k8s.namespace.name', value: { stringValue: mine } },
              { key: 'k8s.pod.name', value: { stringValue: 'web-0' } },
              { key: 'k8s.container.name', value: { stringValue: 'web' } },
            ],
          },
          scopeLogs: [
            {
              logRecords: [
                { timeUnixNano: `${BigInt(Date.now()) * 1_000_000n + 1n}`, body: { stringValue: log } },
              ],
            },
          ],
        },
      ],
    })
    /** The same as protobuf: fields are a tag, a length and their bytes. */
    const protobuf = (log: string) => {
      const field = (number: number, ...parts: readonly (Buffer | string)[]) => {
        const bytes = Buffer.concat(parts.map(part => Buffer.from(part)))
        return Buffer.concat([Buffer.from([number * 8 + 2]), writeVarint(bytes.length), bytes])
      }
      const attribute = (key: string, value: string) => field(1, field(1, key), field(2, field(1, value)))
      const time = Buffer.alloc(9, 0x09)
      time.writeBigUInt64LE(BigInt(Date.now()) * 1_000_000n + 1n, 1)
      const resource = [
        attribute('k8s.namespace.name', mine),
        attribute('k8s.pod.name', 'web-0'),
        attribute('k8s.container.name', 'web'),
      ]
      return field(1, field(1, ...resource), field(2, field(2, time, field(5, field(1, log)))))
    }
    const bulk = (log: string) =>
      `{"create":{"_index":"logstash-2026.11.21"}}\n${JSON.stringify(document(log))}\n`
    const wires: Readonly<Record<string, Wire>> = {
      'JSON lines': {
        path: '/jsonlines',
        headers: [],
        body: log => Buffer.from(JSON.stringify(document(log))),
      },
      'JSON lines, gzip': {
        path: '/jsonlines',
        headers: ['content-encoding: gzip', 'content-type: application/x-ndjson'],
        body: log => gzipSync(JSON.stringify(document(log))),
      },
      'a JSON array': {
        path: '/jsonlines',
        headers: ['content-type: application/json'],
        body: log => Buffer.from(JSON.stringify([document(log)])),
      },
      _bulk: {
        path: '/_bulk',
        headers: ['content-type: application/x-ndjson'],
        body: log => Buffer.from(bulk(log)),
      },
      '{index}/_bulk': {
        path: '/logstash-2026.11.21/_bulk',
        headers: [],
        body: log => Buffer.from(bulk(log)),
      },
      'OTLP, JSON': {
        path: '/v1/logs',
        headers: ['content-type: application/json'],
        body: log => Buffer.from(JSON.stringify(otlp(log))),
      },
      'OTLP, protobuf': {
        path: '/v1/logs',
        headers: ['content-type: application/x-protobuf'],
        body: protobuf,
      },
    }
    for (const [name, wire] of Object.entries(wires)) {
      it(`takes ${name}, and finds the line`, async () => {
        const word = uniqueName('wire').replaceAll('-', '')
        const { code, body } = await curl(wire.path, wire.body(`sent as ${word}\n`), wire.headers)
        expect(code, body).to.equal(200)
        const took = await eventually(async () => {
          const { total, records } = await query(`namespaces=${mine}&log_query=${word}`)
          expect(total).to.equal(1)
          expect(records[0]).to.deep.include({
            log: `sent as ${word}\n`,
            namespace: mine,
            pod: 'web-0',
            container: 'web',
          })
          expect(records[0].time).to.match(/\d{3}000001Z$/)
        }, foundWithinMs)
        expect(took).to.be.lessThan(foundWithinMs / 1000)
      })
    }

    it('stores a batch that is sent twice once', async () => {
      const word = uniqueName('twice').replaceAll('-', '')
      const body = `${JSON.stringify(document(`${word} 1\n`))}\n${JSON.stringify(document(`${word} 2\n`))}`
      await send(body)
      await send(body)
      await eventually(async () => expect((await query(`q=${word}`)).total).to.equal(2), foundWithinMs)
      await new Promise(resolve => setTimeout(resolve, 1500))
      expect((await query(`q=${word}`)).total).to.equal(2)
    })

    it('tells of each line that it does not take', async () => {
      const { code, body } = await curl('/_bulk', `{"create":{}}\n{"log":"x"}\n${bulk('good\n')}`)
      const { errors, items } = JSON.parse(body)
      expect([code, errors, items[0].create.error.reason, items[1].create.status]).to.deep.equal([
        200,
        true,
        'time: is missing; give time or @timestamp',
        201,
      ])
      const refused = await curl('/jsonlines', 'no json\n')
      expect([refused.code, JSON.parse(refused.body).message]).to.deep.equal([
        400,
        'none of 1 lines was taken; line 1: not valid JSON',
      ])
      expect((await curl('/jsonlines', 'x', ['content-type: image/png'])).code).to.equal(415)
    })

    it('takes a user’s own password', async () => {
      const agent = { username: uniqueName('agent'), password: 'P@ssw0rd:of-an-agent' }
      await createUser(agent)
      await kubectlOutput(
        'create',
        'clusterrolebinding',
        agent.username,
        '--clusterrole=kapis:log-shipper',
        `--user=${agent.username}`,
      )
      try {
        const word = uniqueName('basic').replaceAll('-', '')
        const basic = (password: string) =>
          `Basic ${Buffer.from(`${agent.username}:${password}`).toString('base64')}`
        const post = (path: string, authorization: string) =>
          askKapis(`${base()}${path}`, {
            method: 'POST',
            headers: { authorization, 'content-type': 'application/x-ndjson' },
            body: bulk(word),
          })
        await eventually(async () => {
          const { code, body } = await post(`${logging}/ingest/_bulk`, basic(agent.password))
          expect([code, JSON.parse(body).errors]).to.deep.equal([200, false])
        }, foundWithinMs)
        await eventually(
          async () => expect((await query(`q=${word}`)).total).to.be.greaterThan(0),
          foundWithinMs,
        )
        expect((await post(`${logging}/ingest/_bulk`, basic('wrong'))).code).to.equal(401)
        // Nowhere else: a password is not to be sent along with everything.
        const elsewhere = { headers: { authorization: basic(agent.password) } }
        expect((await askKapis(`${base()}${tenant}`, elsewhere)).code).to.equal(401)
      } finally {
        await kubectl('delete', 'clusterrolebinding', agent.username)
        await removeUser(agent.username)
      }
    })

    it('lets nobody send who may not', async () => {
      const refused = await curl('/jsonlines', lines(1), [], 'reader')
      const user = `system:serviceaccount:${mine}:reader`
      expect([refused.code, JSON.parse(refused.body).message]).to.deep.equal([
        403,
        `ingest.logging.${groupDomain} is forbidden: User "${user}" cannot create resource "ingest" in API group "logging.${groupDomain}" at the cluster scope`,
      ])
      expect(
        (await askAs('nonsense', `${base()}${logging}/ingest/jsonlines`, { method: 'POST' })).code,
      ).to.equal(401)
    })

    it('answers statistics and histograms', async () => {
      const where = `namespaces=${mine}&q=ordinary`
      const statistics = await ask('admin', `${tenant}?operation=statistics&${where}`)
      expect(JSON.parse(statistics.body)).to.deep.equal({ statistics: { containers: 2, logs: 20 } })
      const { histogram } = JSON.parse(
        (await ask('admin', `${tenant}?operation=histogram&interval=1d&${where}`)).body,
      )
      expect(histogram.total).to.equal(20)
      expect(
        histogram.histograms.reduce((sum: number, { count }: { count: number }) => sum + count, 0),
      ).to.equal(20)
      expect(histogram.histograms[0].time % 86_400_000).to.equal(0)
    })

    it('pages from the newest on, and by cursor through all', async () => {
      const where = `namespaces=${mine}&q=ordinary`
      const first = await query(`${where}&size=7`)
      expect([first.total, first.records[0].log]).to.deep.equal([20, 'ordinary line 19 of 20\n'])
      const seen: string[] = []
      let cursor = ''
      for (;;) {
        const { records = [] } = await query(`${where}&sort=asc&size=7&with_cursor=true&cursor=${cursor}`)
        seen.push(...records.map(({ log }: { log: string }) => log))
        if (records.length < 7) break
        cursor = records.at(-1).cursor
      }
      expect(seen).to.deep.equal(Array.from({ length: 20 }, (_, i) => `ordinary line ${i} of 20\n`))
    })

    it('gives the lines around one', async () => {
      const where = `namespaces=${mine}&pods=web-0&q=line+8`
      const { records } = await query(`${where}&q="line+8"&with_cursor=true`)
      const { cursor } = records.find(({ log }: { log: string }) => log === 'ordinary line 8 of 20\n')
      const around = `namespaces=${mine}&pods=web-0&containers=web&before=2&after=1`
      const { context } = JSON.parse(
        (await ask('admin', `${tenant}?operation=context&cursor=${cursor}&${around}`)).body,
      )
      const logs = (side: readonly { log: string }[]) => side.map(({ log }) => log)
      expect([logs(context.before), logs(context.after)]).to.deep.equal([
        ['ordinary line 4 of 20\n', 'ordinary line 6 of 20\n'],
        ['ordinary line 10 of 20\n'],
      ])
    })

    it('exports text, JSON lines and CSV, in the order asked for', async () => {
      const where = `operation=export&namespaces=${mine}&pods=web-1&q=ordinary&sort=asc`
      const wanted = Array.from({ length: 10 }, (_, i) => `ordinary line ${2 * i + 1} of 20\n`)
      const text = await ask('admin', `${tenant}?${where}`)
      expect([text.body, text.headers['content-disposition']]).to.deep.equal([wanted.join(''), 'attachment'])
      const json = await ask('admin', `${tenant}?${where}&format=jsonl`)
      expect(
        json.body
          .trim()
          .split('\n')
          .map(line => JSON.parse(line).log),
      ).to.deep.equal(wanted)
      const csv = await ask('admin', `${tenant}?${where}&format=csv&with_time=false`)
      expect(csv.body.split('\r\n').slice(0, 2)).to.deep.equal([
        'namespace,pod,container,log',
        `${mine},web-1,web,"ordinary line 1 of 20\n"`,
      ])
      const newestFirst = await ask('admin', `${tenant}?${where}&sort=desc&with_pod=true`)
      expect(newestFirst.body.split('\n')[0]).to.equal(`${mine}/web-1/web ordinary line 19 of 20`)
    })

    it('serves the same by path', async () => {
      const path = `${logging}/namespaces/${mine}/pods/web-1/containers/web?q=ordinary&size=0`
      expect(JSON.parse((await ask('admin', path)).body)).to.deep.equal({ query: { total: 10 } })
      const cluster = await ask('admin', `${logging}/cluster?namespaces=${mine}&q=ordinary&size=0`)
      expect(JSON.parse(cluster.body)).to.deep.equal({ query: { total: 20 } })
      const gone = await ask('admin', `${logging}/namespaces/${mine}/pods/web-1`)
      const message = `logs by pod are no longer served here: use /kapis/tenant.${groupDomain}/v1alpha2/logs?namespaces=${mine}&pods=web-1`
      expect(JSON.parse(gone.body)).to.deep.equal(statusBody(404, 'NotFound', message, {}))
    })

    it('shows each caller what he may read, from the creation of the namespace on', async () => {
      const word = uniqueName('seen').replaceAll('-', '')
      const before = rfc3339((created - 3600) * 1000)
      const batch = [
        document(`${word} mine`),
        document(`${word} theirs`, { namespace: others }),
        document(`${word} of a namespace that was called so before`, { time: before }),
      ]
      await send(batch.map(line => JSON.stringify(line)).join('\n'))
      await eventually(async () => expect((await query(`q=${word}`)).total).to.equal(3), foundWithinMs)
      const seen = await query(`q=${word}`, 'reader')
      expect([seen.total, seen.records.map(({ log }: { log: string }) => log)]).to.deep.equal([
        1,
        [`${word} mine`],
      ])
      expect(await query(`q=${word}&namespaces=${others}`, 'reader')).to.deep.equal({ total: 0 })
      for (const who of ['nobody', 'shipper'] as const) {
        const answers = ['query', 'statistics', 'histogram', 'export'].map(async operation => {
          const { code, body } = await ask(who, `${tenant}?operation=${operation}&q=${word}`)
          return [code, body]
        })
        expect(await Promise.all(answers)).to.deep.equal([
          [200, '{"query":{"total":0}}\n'],
          [200, '{"statistics":{"containers":0,"logs":0}}\n'],
          [200, '{"histogram":{"total":0,"histograms":null}}\n'],
          [200, ''],
        ])
      }
      const anonymous = await askAs('', `${base()}${tenant}`).catch(() => undefined)
      expect(anonymous?.code).to.equal(401)
    })

    it('follows what arrives', async () => {
      const word = uniqueName('tail').replaceAll('-', '')
      const url = `${front()}${tenant}?follow=true&size=1&namespaces=${mine}&log_query=ordinary,${word}`
      const auth = `authorization: Bearer ${token.reader}`
      const tail = follow('curl', ['-sSN', '--cacert', setting('KAPIS_CA'), '-H', auth, url])
      try {
        expect(JSON.parse(await tail.line(() => true, 20_000)).log).to.equal('ordinary line 19 of 20\n')
        await send(JSON.stringify(document(`${word} has come\n`)))
        const line = await tail.line(text => text.includes(word), 20_000)
        expect(JSON.parse(line)).to.deep.include({ log: `${word} has come\n`, namespace: mine })
      } finally {
        await tail.stop()
      }
    })

    const refused: Readonly<Record<string, string>> = {
      'operation=delete':
        'operation must be one of query, statistics, histogram, export, context, not "delete"',
      'start_time=1589644842608':
        'start_time must be in whole seconds since 1970: milliseconds are not accepted, nor anything finer, not "1589644842608"',
      'end_time=yesterday': 'end_time must be a whole number of seconds since 1970, not "yesterday"',
      'start_time=2&end_time=1': 'start_time (2) must not be after end_time (1)',
      'from=10000&size=1':
        'from + size must not be over 10000, and is 10001; for what lies deeper give with_cursor=true and go on with cursor=, the cursor of the last record',
      'cursor=nonsense': 'cursor',
      'q=(a': 'q: this ( is not closed (at position 1)',
      'interval=1f': 'interval: "1f" must be a whole number from 1 on and a unit: s, m, h, d, w, M, q or y',
      'sort=up': 'sort must be one of desc, asc, not "up"',
      'namespace=x': '"namespace" is no parameter here',
    }
    for (const [parameters, message] of Object.entries(refused)) {
      it(`refuses ${parameters}`, async () => {
        const { code, body } = await ask('admin', `${tenant}?${parameters}`)
        const { kind, reason, message: said } = JSON.parse(body)
        expect([code, kind, reason]).to.deep.equal([400, 'Status', 'BadRequest'])
        expect(said).to.include(message)
      })
    }
  })
}
