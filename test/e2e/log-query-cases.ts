import { expect } from 'chai'
import { groupDomain, statusBody } from './http.ts'
import { type LogScene, logging, tenant } from './log-scene.ts'

/** Defines tests of each operation and of rejected parameters. */
export function itQueries({ mine, get, query }: LogScene): void {
  it('returns statistics and histograms', async () => {
    const where = `namespaces=${mine}&q=ordinary`
    const statistics = await get('admin', `${tenant}?operation=statistics&${where}`)
    expect(JSON.parse(statistics.body)).to.deep.equal({ statistics: { containers: 2, logs: 20 } })
    const { histogram } = JSON.parse(
      (await get('admin', `${tenant}?operation=histogram&interval=1d&${where}`)).body,
    )
    expect(histogram.total).to.equal(20)
    expect(
      histogram.histograms.reduce((sum: number, { count }: { count: number }) => sum + count, 0),
    ).to.equal(20)
    expect(histogram.histograms[0].time % 86_400_000).to.equal(0)
  })

  it('returns pages, newest first, and all records by cursor', async () => {
    const where = `namespaces=${mine}&q=ordinary`
    const first = await query(`${where}&size=7`)
    expect([first.total, first.records[0].log]).to.deep.equal([20, 'ordinary line 19 of 20\n'])
    const read: string[] = []
    let cursor = ''
    for (;;) {
      const { records = [] } = await query(`${where}&sort=asc&size=7&with_cursor=true&cursor=${cursor}`)
      read.push(...records.map(({ log }: { log: string }) => log))
      if (records.length < 7) break
      cursor = records.at(-1).cursor
    }
    expect(read).to.deep.equal(Array.from({ length: 20 }, (_, i) => `ordinary line ${i} of 20\n`))
  })

  it('returns the lines around a line', async () => {
    const { records } = await query(`namespaces=${mine}&pods=web-0&q="line+8"&with_cursor=true`)
    const { cursor } = records.find(({ log }: { log: string }) => log === 'ordinary line 8 of 20\n')
    const around = `namespaces=${mine}&pods=web-0&containers=web&before=2&after=1`
    const { context } = JSON.parse(
      (await get('admin', `${tenant}?operation=context&cursor=${cursor}&${around}`)).body,
    )
    const logs = (side: readonly { log: string }[]) => side.map(({ log }) => log)
    expect([logs(context.before), logs(context.after)]).to.deep.equal([
      ['ordinary line 4 of 20\n', 'ordinary line 6 of 20\n'],
      ['ordinary line 10 of 20\n'],
    ])
  })

  it('exports text, JSON lines and CSV, in the requested order', async () => {
    const where = `operation=export&namespaces=${mine}&pods=web-1&q=ordinary`
    const ascending = `${where}&sort=asc`
    const expected = Array.from({ length: 10 }, (_, i) => `ordinary line ${2 * i + 1} of 20\n`)
    const text = await get('admin', `${tenant}?${ascending}`)
    expect([text.body, text.headers['content-disposition']]).to.deep.equal([expected.join(''), 'attachment'])
    const json = await get('admin', `${tenant}?${ascending}&format=jsonl`)
    expect(
      json.body
        .trim()
        .split('\n')
        .map(line => JSON.parse(line).log),
    ).to.deep.equal(expected)
    const csv = await get('admin', `${tenant}?${ascending}&format=csv&with_time=false`)
    expect(csv.body.split('\r\n').slice(0, 2)).to.deep.equal([
      'namespace,pod,container,log',
      `${mine},web-1,web,"ordinary line 1 of 20\n"`,
    ])
    const newestFirst = await get('admin', `${tenant}?${where}&sort=desc&with_pod=true`)
    expect(newestFirst.body.split('\n')[0]).to.equal(`${mine}/web-1/web ordinary line 19 of 20`)
  })

  it('serves the same by path', async () => {
    const path = `${logging}/namespaces/${mine}/pods/web-1/containers/web?q=ordinary&size=0`
    expect(JSON.parse((await get('admin', path)).body)).to.deep.equal({ query: { total: 10 } })
    const cluster = await get('admin', `${logging}/cluster?namespaces=${mine}&q=ordinary&size=0`)
    expect(JSON.parse(cluster.body)).to.deep.equal({ query: { total: 20 } })
    const gone = await get('admin', `${logging}/namespaces/${mine}/pods/web-1`)
    const message = `logs by pod are no longer served here: use /kapis/tenant.${groupDomain}/v1alpha2/logs?namespaces=${mine}&pods=web-1`
    expect(JSON.parse(gone.body)).to.deep.equal(statusBody(404, 'NotFound', message, {}))
  })

  const refused: Readonly<Record<string, string>> = {
    'operation=delete':
      'operation must be one of query, statistics, histogram, export, context, patterns, not "delete"',
    'start_time=1589644842608':
      'start_time must be a Unix timestamp in whole seconds (milliseconds and finer are not accepted), not "1589644842608"',
    'end_time=yesterday': 'end_time must be a whole number of seconds since 1970, not "yesterday"',
    'start_time=2&end_time=1': 'start_time (2) must not be after end_time (1)',
    'from=10000&size=1':
      'from + size must be at most 10000, not 10001; for further records use with_cursor=true, and then cursor= with the cursor of the last record',
    'cursor=nonsense': 'cursor',
    'q=(a': 'q: missing closing parenthesis (at position 1)',
    'interval=1f':
      'interval: "1f": expected a whole number of at least 1 and a unit: s, m, h, d, w, M, q or y',
    'sort=up': 'sort must be one of desc, asc, not "up"',
  }
  it('ignores an unknown parameter with a warning', async () => {
    const { code, headers } = await get('admin', `${tenant}?size=1&endTime=1`)
    expect(code).to.equal(200)
    expect(headers.warning).to.match(/^299 - "ignored unknown parameter .*endTime/)
  })

  for (const [parameters, message] of Object.entries(refused)) {
    it(`rejects ${parameters}`, async () => {
      const { code, body } = await get('admin', `${tenant}?${parameters}`)
      const { kind, reason, message: said } = JSON.parse(body)
      expect([code, kind, reason]).to.deep.equal([400, 'Status', 'BadRequest'])
      expect(said).to.include(message)
    })
  }
}
