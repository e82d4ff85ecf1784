import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import fc from 'fast-check'
import { administratorCertificate } from '../e2e/client-certificate.ts'
import { kubeCa, kubectlOutput } from '../e2e/cluster.ts'
import { setting } from '../e2e/run.ts'
import { compareAudits } from './differential/audit.ts'
import { createJudge, type Judge } from './differential/judge.ts'
import { iamGroup, type Scene } from './differential/model.ts'
import { createRequestSender, type RequestSender } from './differential/request-sender.ts'
import { plainReads, requestsOf } from './differential/requests.ts'
import { makeScene } from './differential/scene.ts'
import { type AuditedServers, startAudited } from './differential/servers.ts'
import { bounds, fuzzSeconds } from './fuzz-parameters.ts'

/** Number of concurrent requests of one caller. */
const batch = 24
const runs = 3

// Sends the same request to both servers. kube-apiserver must allow everything that Kapis allows.
// On common paths the responses must be equal, except for requests that Kapis rejects itself
// (differential/own-rejections.ts), and so must the audit events.
describe('Kapis is never more permissive than kube-apiserver', function () {
  this.timeout(600_000 + fuzzSeconds * 20_000)
  let scene: Scene
  let admin: RequestSender
  let judge: Judge
  let servers: AuditedServers

  before(async () => {
    const kube = { url: setting('KUBE_URL'), ca: readFileSync(await kubeCa()) }
    admin = createRequestSender(kube, await administratorCertificate())
    ;[servers, scene] = await Promise.all([startAudited(), makeScene()])
    judge = createJudge(scene, admin)
    // Waits until permissions have reached the authorizer, and objects the caches.
    await new Promise(resolve => setTimeout(resolve, 1_000))
  })
  after(async () => {
    admin?.close()
    servers?.stop()
    await scene?.remove()
  })

  const accounts = 'named viewer watcher unprivileged platform impersonator editor'.split(' ')
  const certificates = 'blank tab other deputy non-ascii account node'.split(' ')
  for (const [i, name] of [...accounts, ...certificates, 'login', 'anonymous', 'unknown'].entries()) {
    it(`for the caller ${name}`, async () => {
      const caller = scene.callers[i] ?? expect.fail('no such caller')
      const kube = createRequestSender(servers.kube, caller.pair)
      const kapis = createRequestSender(servers.kapis, caller.pair)
      const requests = fc.array(requestsOf(scene, caller), { minLength: batch, maxLength: batch })
      const property = fc.asyncProperty(requests, async all => {
        await Promise.all(all.map(request => judge.judge(caller, { kube, kapis }, request)))
      })
      try {
        for (const request of plainReads(scene, caller)) await judge.judge(caller, { kube, kapis }, request)
        await fc.assert(property, { ...bounds(runs), endOnFailure: true })
      } finally {
        kube.close()
        kapis.close()
      }
    })
  }

  it('and each API received requests for what its callers may see', () => {
    for (const [root, count] of judge.shown) expect(count, root).to.be.above(0)
  })

  it('and both audit logs have the same attributes', () => {
    const compared = compareAudits(judge.pairs, servers.kube.auditLog, servers.kapis.auditLog)
    // Other requests are rejected before authentication.
    expect(compared).to.be.above(judge.pairs.length / 3)
  })

  it('and no request has written anything', async () => {
    const kinds = `secrets,configmaps,pods,nodes,namespaces,users.${iamGroup}`
    const text = await kubectlOutput('get', kinds, '--all-namespaces', '-o', 'json')
    expect(text).to.not.include('written')
    for (const { marker, name } of scene.objects) expect(text, name).to.include(marker)
  })
})
