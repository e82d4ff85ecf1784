import { join } from 'node:path'
import { expect } from 'chai'
import { output, setting } from '../e2e/run.ts'
import { expectEachOnce, ingestPath, type ShipperScene, startShipperScene } from './scene.ts'
import { python } from './tools.ts'

const count = 5000

describe('the Python client of Elasticsearch', function () {
  this.timeout(2_000_000)
  let scene: ShipperScene
  before(async () => {
    scene = await startShipperScene()
  })
  after(() => scene?.stop())

  for (const version of ['7.17.12', '8.19.1', '9.1.1']) {
    it(`of version ${version} sends ${count} documents once with helpers.bulk and index`, async () => {
      const major = version.slice(0, 1)
      const program = await python(`elasticsearch-${major}.txt`)
      const namespace = `${scene.namespace}-${major}`
      const printed = await output(
        program,
        [join(import.meta.dirname, 'bulk.py'), `${scene.url}${ingestPath}`, namespace, String(count)],
        { env: { CA: setting('KAPIS_CA'), TOKEN: scene.token }, timeoutMs: 120_000 },
      )
      expect(printed.trim()).to.equal(`${version} ${count} []`)
      const lines = await scene.found(namespace, count, 60_000)
      expectEachOnce(
        lines.map(({ fields }) => Number(fields?.i)),
        count,
      )
      for (const { log, pod, fields } of lines) {
        expect(pod).to.equal('py-0')
        expect(fields).to.deep.equal({
          ...{ i: Number(log.slice('line '.length)), level: 'info', ok: true, ratio: 0.5 },
          ...{ 'http.status': 503, tags: ['a', 'b'] },
        })
      }
    })
  }
})
