import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { type RunningCommand, scratch } from '../e2e/run.ts'
import { filebeat } from './filebeat.ts'
import type { FileShipper } from './followed-file.ts'
import { rsyslog } from './rsyslog.ts'
import { type ExportedLine, type ShipperScene, startShipperScene } from './scene.ts'
import { makeRound, type Shape } from './shapes.ts'
import { syslogNg } from './syslog-ng.ts'

const shippers: readonly FileShipper[] = [filebeat, rsyslog, syslogNg]
const rounds = 30
/** Faults before each round of lines; a round takes a second. */
const faults: Readonly<Record<number, (scene: ShipperScene) => Promise<void> | void>> = {
  4: scene => scene.revoke(),
  19: scene => scene.grant(),
  21: scene => scene.cut(2_000),
  24: scene => scene.restart(),
}

describe('lines of every format, without permission for 15 s, after a lost connection, and after a SIGKILL of kapis-apiserver', function () {
  this.timeout(900_000)
  let scene: ShipperScene
  const running: RunningCommand[] = []
  const written = new Map<FileShipper, Shape[]>()
  before(async function () {
    this.timeout(4_000_000)
    scene = await startShipperScene()
    const files = new Map<FileShipper, string>()
    for (const [i, shipper] of shippers.entries()) {
      const folder = join(scratch, `${scene.namespace}-${i}`)
      mkdirSync(folder, { recursive: true })
      const file = join(folder, 'app.log')
      writeFileSync(file, '')
      files.set(shipper, file)
      running.push(await shipper.start({ scene, file, folder }))
    }
    const done: (Promise<void> | void)[] = []
    for (let round = 0; round < rounds; round += 1) {
      done.push(faults[round]?.(scene))
      for (const [i, shipper] of shippers.entries()) {
        const shapes = makeRound(`${scene.namespace}-${i}`, round)
        appendFileSync(files.get(shipper) ?? '', shapes.map(({ line }) => line).join(''))
        written.set(shipper, [...(written.get(shipper) ?? []), ...shapes])
      }
      await sleep(1000)
    }
    await Promise.all(done)
  })
  after(async () => {
    for (const shipper of running) await shipper.stop()
    await scene?.stop()
  })

  for (const [i, shipper] of shippers.entries()) {
    it(`arrive once with their fields from ${shipper.title}`, async () => {
      const { convert = same => same, adds = /^$/, repeats = 0 } = shipper
      const shapes = written.get(shipper) ?? []
      const found = await scene.found(`${scene.namespace}-${i}`, shapes.length, 300_000, repeats)
      expectShapes(found, shapes.map(convert), adds, repeats)
    })
  }
})

function expectShapes(
  found: readonly ExportedLine[],
  written: readonly Shape[],
  adds: RegExp,
  repeats: number,
): void {
  const expected = new Map(written.map(shape => [shape.id, shape]))
  const countOf = (ids: readonly unknown[]) => Map.groupBy(ids, String)
  const [came, sent] = [countOf(found.map(({ fields }) => fields?.id)), countOf(written.map(({ id }) => id))]
  const missing = [...sent].filter(([id, { length }]) => (came.get(id)?.length ?? 0) < length)
  const several = [...came].filter(([id, { length }]) => length > (sent.get(id)?.length ?? 0))
  const names = (of: readonly (readonly [string, unknown])[]) => of.map(([id]) => id).slice(0, 12)
  expect([names(missing), repeats === 0 ? names(several) : []]).to.deep.equal([[], []])
  expect(found.length - written.length).to.be.within(0, repeats)
  const different: unknown[] = []
  for (const { log, pod, container, fields = {} } of found) {
    const shape = expected.get(String(fields.id))
    const own = Object.fromEntries(Object.entries(fields).filter(([name]) => !adds.test(name)))
    // If the document has no text, the line is the whole document as sent.
    const hasText = shape?.log === undefined ? JSON.parse(log).id === shape?.id : log === shape.log
    const isSame = toText(own) === toText(shape?.fields) && pod === 'shapes-0' && container === 'app'
    if (!(hasText && isSame))
      different.push({ log: log.slice(0, 200), pod, container, own, fields: shape?.fields })
  }
  const name = `${different.length} of ${found.length} lines`
  expect(JSON.stringify(different.slice(0, 12), keepIntegers, 1), name).to.equal('[]')
}

/** Preserves the digits of integers, and ignores the order of fields. */
function toText(fields: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify(
    Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)),
    keepIntegers,
  )
}

function keepIntegers(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value
}
