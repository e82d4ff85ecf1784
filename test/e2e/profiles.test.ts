import { expect } from 'chai'
import { accessToken, kubectl, makeNamespace, sendToKapis, tokenOf, uniqueName } from './cluster.ts'
import { askRaw, eventually, expectStatus, statusBody } from './http.ts'

describe('/debug/profile', function () {
  this.timeout(60_000)
  const namespace = uniqueName('profiles')
  const role = uniqueName('profiler')
  let admin = ''
  const send = (path: string, token: string) =>
    sendToKapis(path, { headers: token === '' ? {} : { authorization: `Bearer ${token}` } })

  before(async () => {
    await makeNamespace(namespace, ['profiler', 'plain'])
    const subject = `--serviceaccount=${namespace}:profiler`
    await kubectl('create', 'clusterrolebinding', role, '--clusterrole=kapis:profiler', subject)
    admin = await accessToken()
  })
  after(async () => {
    await kubectl('delete', 'clusterrolebinding', role)
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  for (const [program, prefix, file] of [
    ['kapis-apiserver', '/debug/profile/', 'kapis'],
    ['kapis-oauth', '/debug/profile/oauth/', 'kapis-oauth'],
  ] as const) {
    it(`returns a profile of ${program} to a caller with permission`, async () => {
      const token = await tokenOf(namespace, 'profiler')
      await eventually(async () => {
        const cpu = await send(`${prefix}cpu?seconds=1`, token)
        expect(cpu.code, cpu.body).to.equal(200)
        expect(cpu.headers['content-disposition']).to.equal(`attachment; filename="${file}.cpuprofile"`)
        const profile = JSON.parse(cpu.body)
        expect(profile).to.include.keys('nodes', 'samples', 'timeDeltas')
        expect(cpu.body).to.match(/"url":"[^"]*node:/)
      }, 20_000)
      const heap = await send(`${prefix}heap?seconds=1`, token)
      expect([heap.code, Object.keys(JSON.parse(heap.body))]).to.deep.equal([200, ['head', 'samples']])
    })

    it(`rejects every other caller for ${program}`, async () => {
      const plain = await tokenOf(namespace, 'plain')
      for (const kind of ['cpu', 'heap']) {
        const path = `${prefix}${kind}`
        const user = `system:serviceaccount:${namespace}:plain`
        const refused = await send(`${path}?seconds=1`, plain)
        expectStatus(
          refused,
          statusBody(403, 'Forbidden', `forbidden: User "${user}" cannot get path "${path}"`, {}),
        )
        expect((await send(`${path}?seconds=1`, '')).code).to.be.oneOf([401, 403])
      }
    })
  }

  it('provides no other path to the profiles of kapis-oauth', async () => {
    for (const path of ['/oauth/debug/profile/oauth/cpu', '/oauth/..%2fdebug/profile/oauth/cpu'])
      expect((await send(path, admin)).code, path).to.be.oneOf([400, 404])
    for (const path of ['/debug/profile/oauth', '/debug/profile/oauth/block'])
      expect((await send(path, admin)).code, path).to.equal(404)
    expect((await askRaw('//debug/profile/oauth/cpu')).code).to.equal(400)
  })

  it('reports invalid parameters', async () => {
    for (const seconds of ['0', '61', '-1', '1.5', 'long', '']) {
      const program = seconds === '61' ? 'oauth/' : ''
      const { code, body } = await send(`/debug/profile/${program}cpu?seconds=${seconds}`, admin)
      expect([code, JSON.parse(body).message]).to.deep.equal([
        400,
        `invalid seconds "${seconds}": expected a whole number from 1 to 60`,
      ])
    }
    expect((await send('/debug/profile/block', admin)).code).to.equal(404)
  })

  it('runs one profile at a time per program', async () => {
    const first = send('/debug/profile/cpu?seconds=5', admin)
    await eventually(async () => {
      const { code, headers } = await send('/debug/profile/heap?seconds=1', admin)
      expect([code, headers['retry-after']]).to.deep.equal([429, '60'])
    }, 4_000)
    expect((await send('/debug/profile/oauth/heap?seconds=1', admin)).code).to.equal(200)
    expect((await first).code).to.equal(200)
  })
})
