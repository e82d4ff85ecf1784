import { expect } from 'chai'
import { Status } from '../../apierrors/status.ts'
import { jane, startLoopback, toExchange } from '../../apirequest/fixtures.ts'
import type { CallAs } from './as-caller.ts'
import { withAuditOfWrites } from './audited-calls.ts'

type Line = Readonly<Record<string, unknown>>
const bindings = '/apis/rbac.authorization.k8s.io/v1/namespaces/n/rolebindings'

async function linesOf(
  call: Parameters<CallAs>[1],
  respond: () => string,
  more: object = {},
  audit: { readonly account?: string } = {},
) {
  const lines: Line[] = []
  const logger: Parameters<typeof withAuditOfWrites>[1]['logger'] = Object.assign(Object.create(null), {
    info: (fields: object, msg: string) => lines.push({ ...fields, msg }),
  })
  const callAs = withAuditOfWrites(async () => ({ code: 200, text: respond() }), {
    logger,
    clientAddress: () => '192.0.2.1',
    ...audit,
  })
  const loopback = await startLoopback(async (req, res) => {
    await callAs({ ...toExchange(req, res), id: 'i', ...more }, call).catch(() => undefined)
    res.end()
  })
  await loopback.get('/kapis/iam.kapis.io/v1alpha2/clustermembers')
  await loopback.close()
  return lines
}

describe('withAuditOfWrites', () => {
  const made = () => JSON.stringify({ metadata: { name: 'ann-view-x1' } })
  const line = { audit: 'write', id: 'i', by: 'jane', sourceIp: '192.0.2.1' }

  it('records the caller and the object of each write', async () => {
    expect(
      await linesOf({ method: 'POST', path: `${bindings}?fieldManager=x`, body: {} }, made),
    ).to.deep.equal([
      {
        ...line,
        method: 'POST',
        object: `${bindings}/ann-view-x1`,
        outcome: 'success',
        msg: 'object written',
      },
    ])
    expect(await linesOf({ method: 'DELETE', path: `${bindings}/a` }, () => '{}')).to.deep.equal([
      { ...line, method: 'DELETE', object: `${bindings}/a`, outcome: 'success', msg: 'object written' },
    ])
  })

  it('records both users of an impersonated request', async () => {
    const root = { ...jane, username: 'root' }
    const [found] = await linesOf({ method: 'PUT', path: bindings }, made, { impersonator: root })
    expect(found).to.include({ by: 'root', impersonatedUser: 'jane' })
  })

  it('records the account with whose permissions Kapis writes for the caller', async () => {
    const [found] = await linesOf(
      { method: 'POST', path: bindings, body: {} },
      made,
      {},
      { account: 'kapis' },
    )
    expect(found).to.include({ by: 'jane', account: 'kapis', outcome: 'success' })
  })

  it('records a rejection', async () => {
    const refuse = () => {
      throw new Status(403, 'Forbidden', 'no')
    }
    expect(await linesOf({ method: 'POST', path: bindings, body: {} }, refuse)).to.deep.equal([
      {
        ...{ ...line, method: 'POST', object: bindings, outcome: 'failure', code: 403, reason: 'Forbidden' },
        msg: 'object not written',
      },
    ])
  })

  const inBody: readonly Parameters<CallAs>[1][] = [
    { method: 'PATCH', path: `${bindings}/a`, body: { dryRun: ['All'] } },
    { method: 'POST', path: bindings, body: { dryRun: ['All'] } },
    { method: 'DELETE', path: `${bindings}/a`, body: { dryRun: [] } },
  ]
  for (const call of inBody)
    it(`records ${call.method} ${JSON.stringify(call.body)}, which is not a dry run`, async () =>
      expect(await linesOf(call, made)).to.have.length(1))

  const silent: readonly Parameters<CallAs>[1][] = [
    { path: bindings },
    { method: 'POST', path: `${bindings}?dryRun=All`, body: {} },
    { method: 'DELETE', path: bindings, body: { kind: 'DeleteOptions', dryRun: ['All'] } },
  ]
  for (const call of silent)
    it(`records nothing for ${JSON.stringify(call)}`, async () =>
      expect(await linesOf(call, made)).to.deep.equal([]))
})
