import { expect } from 'chai'
import { accessToken, kubectl, kubectlOutput, makeNamespace, tokenOf, uniqueName } from './cluster.ts'
import { eventually, groupDomain, sendAs } from './http.ts'
import { run } from './run.ts'

const tenant = `/kapis/tenant.${groupDomain}/v1alpha2`
// A long timeout, since a search engine creates its index with the first event.
const foundWithinMs = 60_000

/**
 * Defines tests of the events API for the events of kube-apiserver.
 *
 * @param title name of the store
 * @param base returns the URL of kapis-apiserver with the store
 */
export function describeEvents(title: string, base: () => string): void {
  describe(`events in ${title}`, function () {
    this.timeout(120_000)

    const mine = uniqueName('events')
    const token = { admin: '', reader: '', unprivileged: '' }

    before(async () => {
      await makeNamespace(mine, ['reader', 'unprivileged'])
      const account = `--serviceaccount=${mine}:reader`
      await kubectlOutput('-n', mine, 'create', 'rolebinding', 'reader', '--clusterrole=view', account)
      token.admin = await accessToken()
      for (const name of ['reader', 'unprivileged'] as const) token[name] = await tokenOf(mine, name)
      await create('one', { reason: 'FailedScheduling', type: 'Warning', message: 'no node is <b>free</b>' })
      await create('two', { reason: 'Scheduled', type: 'Normal', message: 'found one' })
      await eventually(async () => expect((await query()).total).to.equal(2), foundWithinMs)
    })

    after(async () => {
      await kubectl('delete', 'namespace', mine, '--wait=false')
    })

    async function create(name: string, given: object): Promise<void> {
      const object = {
        apiVersion: 'v1',
        kind: 'Pod',
        namespace: mine,
        name: `pod-${name}`,
        uid: `${mine}-${name}`,
      }
      const event = {
        ...{ apiVersion: 'v1', kind: 'Event', metadata: { name, namespace: mine }, involvedObject: object },
        ...{ lastTimestamp: new Date().toISOString().replace(/\.\d+/, ''), count: 1, ...given },
      }
      const { code, stderr } = await run('kubectl', ['create', '-f', '-'], { stdin: JSON.stringify(event) })
      expect(code, stderr).to.equal(0)
    }

    async function send(parameters: string, who: keyof typeof token = 'admin') {
      const path = `${tenant}/events?involved_object_namespace_filter=${mine}&${parameters}`
      const { code, body } = await sendAs(token[who], `${base()}${path}`)
      expect(code, body).to.equal(200)
      return body
    }

    async function query(parameters = '', who: keyof typeof token = 'admin') {
      return JSON.parse(await send(parameters, who)).query
    }

    it('are found by their text, and are equal to those of kubectl', async () => {
      const { total, records } = await query(
        'type_filter=Warning&reason_search=sched&message_search=%3Cb%3EFREE',
      )
      const own: { metadata: object } = JSON.parse(
        await kubectlOutput('-n', mine, 'get', 'event', 'one', '-o', 'json'),
      )
      expect([total, records[0]]).to.deep.equal([1, own])
      expect((await query('involved_object_name_filter=pod-two')).records[0].reason).to.equal('Scheduled')
    })

    it('are stored once per update', async () => {
      const patch = JSON.stringify({ count: 2, message: 'found another one' })
      await kubectlOutput('-n', mine, 'patch', 'event', 'two', '--type=merge', '-p', patch)
      const both = 'involved_object_name_filter=pod-two&sort=asc'
      await eventually(async () => expect((await query(both)).total).to.equal(2), foundWithinMs)
      const counts = (await query(both)).records.map(({ count }: { count: number }) => count)
      expect(counts.toSorted()).to.deep.equal([1, 2])
    })

    it('have statistics, a histogram and an export', async () => {
      const statistics = await send('operation=statistics&involved_object_name_filter=pod-one')
      expect(JSON.parse(statistics)).to.deep.equal({ statistics: { resources: 1, events: 1 } })
      const { histogram } = JSON.parse(
        await send('operation=histogram&interval=1d&reason_filter=FailedScheduling'),
      )
      expect([histogram.total, histogram.buckets[0].count]).to.deep.equal([1, 1])
      const lines = (await send('operation=export&reason_filter=FailedScheduling')).trim().split('\n')
      expect(lines.map(line => JSON.parse(line).metadata.name)).to.deep.equal(['one'])
    })

    it('are shown to callers who may list them in their namespace', async () => {
      expect((await query('reason_filter=FailedScheduling', 'reader')).total).to.equal(1)
      expect(await query('', 'unprivileged')).to.deep.equal({ total: 0 })
      const anonymous = await sendAs('', `${base()}${tenant}/events`).catch(() => undefined)
      expect(anonymous?.code).to.equal(401)
    })
  })
}

/**
 * Defines tests of queries of the audit log.
 *
 * @param title name of the store
 * @param base returns the URL of kapis-apiserver with an audit log
 */
export function describeAuditEvents(title: string, base: () => string): void {
  describe(`audit events in ${title}`, function () {
    this.timeout(120_000)

    const mine = uniqueName('audited')
    let admin = ''

    before(async () => {
      await makeNamespace(mine, ['reader', 'viewer'])
      for (const [name, role] of [
        ['reader', 'kapis:audit-reader'],
        ['viewer', 'view'],
      ]) {
        const account = `--serviceaccount=${mine}:${name}`
        await kubectlOutput('-n', mine, 'create', 'rolebinding', `${name}`, `--clusterrole=${role}`, account)
      }
      admin = await accessToken()
    })

    after(async () => {
      await kubectl('delete', 'namespace', mine, '--wait=false')
    })

    async function query(token: string, parameters: string) {
      const path = `${base()}${tenant}/auditing/events?objectref_namespace_filter=${mine}&${parameters}`
      const { code, body } = await sendAs(token, path)
      expect(code, body).to.equal(200)
      return JSON.parse(body)
    }

    it('are found by user and action, only by callers with permission', async () => {
      const reader = await tokenOf(mine, 'reader')
      const viewer = await tokenOf(mine, 'viewer')
      const secret = `/api/v1/namespaces/${mine}/secrets/none`
      expect((await sendAs(viewer, `${base()}${secret}`)).code).to.equal(403)
      const user = `system:serviceaccount:${mine}:viewer`
      const refused = `verb_filter=get&response_code_filter=403&user_filter=${user}`
      await eventually(async () => {
        expect((await query(admin, refused)).query.total).to.equal(1)
      }, foundWithinMs)
      const [event] = (await query(reader, `${refused}&objectref_resource_filter=secrets`)).query.records
      expect(event).to.deep.include({ verb: 'get', level: 'Metadata', requestURI: secret })
      expect(event.user.username).to.equal(user)
      // The role `view` includes events, but not the audit log.
      expect(await query(viewer, '')).to.deep.equal({ query: { total: 0 } })
      expect(await query(admin, `operation=statistics&${refused}`)).to.deep.equal({
        statistics: { resources: 1, events: 1 },
      })
    })
  })
}
