import { expect } from 'chai'
import { uniqueName } from './cluster.ts'
import { eventually, sendAs } from './http.ts'
import { foundWithinMs, type LogScene, tenant } from './log-scene.ts'
import { follow, run, setting } from './run.ts'

/** Defines tests of which stored and new lines each caller may see. */
export function itLimitsReaders(
  { mine, others, token, created, kapisUrl, rfc3339, document, get, query, send }: LogScene,
  base: () => string,
): void {
  it('shows each caller what they may read, from the creation of the namespace on', async () => {
    const word = uniqueName('seen').replaceAll('-', '')
    const before = rfc3339((created() - 3600) * 1000)
    const batch = [
      document(`${word} mine`),
      document(`${word} theirs`, { namespace: others }),
      document(`${word} of a namespace that was called so before`, { time: before }),
    ]
    await send(batch.map(line => JSON.stringify(line)).join('\n'))
    await eventually(async () => expect((await query(`q=${word}`)).total).to.equal(3), foundWithinMs)
    const visible = await query(`q=${word}`, 'reader')
    expect([visible.total, visible.records.map(({ log }: { log: string }) => log)]).to.deep.equal([
      1,
      [`${word} mine`],
    ])
    expect(await query(`q=${word}&namespaces=${others}`, 'reader')).to.deep.equal({ total: 0 })
    for (const who of ['unprivileged', 'shipper'] as const) {
      const responses = ['query', 'statistics', 'histogram', 'export'].map(async operation => {
        const { code, body } = await get(who, `${tenant}?operation=${operation}&q=${word}`)
        return [code, body]
      })
      expect(await Promise.all(responses)).to.deep.equal([
        [200, '{"query":{"total":0}}\n'],
        [200, '{"statistics":{"containers":0,"logs":0}}\n'],
        [200, '{"histogram":{"total":0,"histograms":null}}\n'],
        [200, ''],
      ])
    }
    const anonymous = await sendAs('', `${base()}${tenant}`).catch(() => undefined)
    expect(anonymous?.code).to.equal(401)
  })

  it('serves kubectl logs of a deleted pod to callers who may read its log', async () => {
    const pod = uniqueName('gone')
    await send([1, 2, 3].map(i => JSON.stringify(document(`line ${i}`, { pod }))).join('\n'))
    await eventually(async () => expect((await query(`pods=${pod}`)).total).to.equal(3), foundWithinMs)
    const server = ['--server', kapisUrl(), '--certificate-authority', setting('KAPIS_CA')]
    const kubectlLogs = (who: 'reader' | 'unprivileged', name: string) =>
      run('kubectl', [
        ...['--kubeconfig', '/dev/null', ...server, '--token', token[who], '-n', mine],
        ...['logs', name, '--tail=2'],
      ])
    const shown = await kubectlLogs('reader', pod)
    expect([shown.code, shown.stdout]).to.deep.equal([0, 'line 2\nline 3\n'])
    expect(shown.stderr).to.include(`Warning: pod "${pod}" no longer exists`)
    const refused = await kubectlLogs('unprivileged', pod)
    expect([refused.code, refused.stdout]).to.deep.equal([1, ''])
    expect(refused.stderr).to.include('Error from server (Forbidden)')
    const unknown = await kubectlLogs('reader', 'never-was')
    expect(unknown.stderr).to.include('(NotFound): pods "never-was" not found')
  })

  it('follows new lines', async () => {
    const word = uniqueName('tail').replaceAll('-', '')
    const url = `${kapisUrl()}${tenant}?follow=true&size=1&namespaces=${mine}&log_query=ordinary,${word}`
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
}
