import { expect } from 'chai'
import { kubectl, kubectlOutput, sendToKapis, tokenOf, uniqueName } from './cluster.ts'
import { eventually, groupDomain, sendAs } from './http.ts'
import { bulkOf, logWires, lokiWire } from './log-protocols.ts'
import { foundWithinMs, type LogScene, logging, tenant } from './log-scene.ts'
import { createUser, removeUser } from './oauth.ts'

/** Defines tests of sending lines, and of the permission to send. */
export function itTakesLogs(
  { mine, document, lines, query, curl, send }: LogScene,
  base: () => string,
): void {
  for (const [name, wire] of Object.entries(logWires({ mine, document }))) {
    it(`accepts ${name}, and finds the line`, async () => {
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

  it('stores a batch once if it is sent twice', async () => {
    const word = uniqueName('twice').replaceAll('-', '')
    const body = `${JSON.stringify(document(`${word} 1\n`))}\n${JSON.stringify(document(`${word} 2\n`))}`
    await send(body)
    await send(body)
    await eventually(async () => expect((await query(`q=${word}`)).total).to.equal(2), foundWithinMs)
    await new Promise(resolve => setTimeout(resolve, 1500))
    expect((await query(`q=${word}`)).total).to.equal(2)
  })

  it('keeps fields with their types, finds lines by them, and reports what it has truncated', async () => {
    const word = uniqueName('fields').replaceAll('-', '')
    const fields = { level: 'Error', http: { status: 503 }, ok: false, tags: ['a', 'b'] }
    const line = JSON.stringify({ ...document(`${word}\n`), ...fields, long: 'x'.repeat(40_000) })
    const { body } = await curl('/jsonlines', `${line}\n`)
    expect(JSON.parse(body)).to.deep.equal({
      accepted: 1,
      rejected: 0,
      changed: [{ line: 1, reasons: ['field_shortened'] }],
    })
    await eventually(async () => {
      const { records } = await query(`q=${word}+level:error+http.status:50*+tags:b+NOT+ok:true`)
      expect(records?.[0]?.fields).to.deep.equal({
        ...{ level: 'Error', 'http.status': 503, ok: false, tags: ['a', 'b'] },
        long: 'x'.repeat(32 * 1024),
      })
    }, foundWithinMs)
  })

  it('accepts Loki’s push in protobuf and snappy, and finds the line', async () => {
    const word = uniqueName('loki').replaceAll('-', '')
    const { path, headers, body } = lokiWire(mine)
    const response = await curl(path, body(`sent as ${word}`), headers)
    expect(response).to.deep.equal({ code: 204, body: '' })
    await eventually(async () => {
      const { records } = await query(`namespaces=${mine}&q=${word}+job:shipped`)
      expect(records[0]).to.deep.include({ log: `sent as ${word}`, namespace: mine, pod: 'web-0' })
      expect(records[0].time).to.match(/\.000000001Z$/)
    }, foundWithinMs)
  })

  it('supports Elasticsearch clients, with the password of a user or a token', async () => {
    const root = await sendAs(await tokenOf(mine, 'shipper'), `${base()}${logging}/ingest/`)
    expect([root.code, root.headers['x-elastic-product']]).to.deep.equal([200, 'Elasticsearch'])
    expect(JSON.parse(root.body).version.number).to.equal('8.19.0')
    const refused = await sendAs(await tokenOf(mine, 'reader'), `${base()}${logging}/ingest/_license`)
    expect([refused.code, refused.headers['x-elastic-product']]).to.deep.equal([403, 'Elasticsearch'])
    const { body } = await curl('/_bulk?filter_path=errors,items.*.status', bulkOf(document('by a client\n')))
    expect(JSON.parse(body)).to.deep.equal({ errors: false, items: [{ create: { status: 201 } }] })
  })

  it('reports each line that it rejects', async () => {
    const { code, body } = await curl('/_bulk', `{"create":{}}\n["x"]\n${bulkOf(document('good\n'))}`)
    const { errors, items } = JSON.parse(body)
    expect([code, errors, items[0].create.error.reason, items[1].create.status]).to.deep.equal([
      200,
      true,
      'not a JSON object',
      201,
    ])
    const refused = await curl('/jsonlines', 'no json\n')
    expect([refused.code, JSON.parse(refused.body).message]).to.deep.equal([
      400,
      'none of 1 lines was accepted; line 1: not valid JSON',
    ])
    expect((await curl('/jsonlines', 'x', ['content-type: image/png'])).code).to.equal(415)
  })

  it('accepts a user’s own password', async () => {
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
        sendToKapis(`${base()}${path}`, {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/x-ndjson' },
          body: bulkOf(document(word)),
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
      // Clients of Elasticsearch verify the product before they send lines.
      const root = { headers: { authorization: basic(agent.password) } }
      expect((await sendToKapis(`${base()}${logging}/ingest`, root)).code).to.equal(200)
      // Passwords are only accepted for ingest: other clients must not send them with every
      // request.
      const elsewhere = { headers: { authorization: basic(agent.password) } }
      expect((await sendToKapis(`${base()}${tenant}`, elsewhere)).code).to.equal(401)
    } finally {
      await kubectl('delete', 'clusterrolebinding', agent.username)
      await removeUser(agent.username)
    }
  })

  it('requires permission to send', async () => {
    const refused = await curl('/jsonlines', lines(1), [], 'reader')
    const user = `system:serviceaccount:${mine}:reader`
    expect([refused.code, JSON.parse(refused.body).message]).to.deep.equal([
      403,
      `ingest.logging.${groupDomain} is forbidden: User "${user}" cannot create resource "ingest" in API group "logging.${groupDomain}" at the cluster scope`,
    ])
    expect(
      (await sendAs('nonsense', `${base()}${logging}/ingest/jsonlines`, { method: 'POST' })).code,
    ).to.equal(401)
  })
}
