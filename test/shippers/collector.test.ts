import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createPortFinder } from '../../hack/controlplane/processes/ports.ts'
import { eventually } from '../e2e/http.ts'
import { follow, type RunningCommand, scratch, setting } from '../e2e/run.ts'
import { expectEachOnce, ingestPath, type ShipperScene, startShipperScene } from './scene.ts'
import { collector } from './tools.ts'

const requests = 20
const perRequest = 500
const count = requests * perRequest
const ports = createPortFinder()

describe('the OpenTelemetry Collector', function () {
  this.timeout(300_000)
  let program = ''
  let scene: ShipperScene
  before(async function () {
    this.timeout(2_000_000)
    program = await collector()
    scene = await startShipperScene()
  })
  after(async () => {
    ports.release()
    await scene?.stop()
  })

  /** Returns log records, each with a resource in a separate namespace. */
  const resourceLogs = (namespace: string, request: number) => {
    const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })
    const resource = {
      attributes: [
        text('service.name', 'shop'),
        text('k8s.namespace.name', namespace),
        text('k8s.pod.name', 'web-0'),
        text('k8s.container.name', 'web'),
      ],
    }
    const logRecords = Array.from({ length: perRequest }, (_, i) => ({
      timeUnixNano: `${BigInt(Date.now()) * 1_000_000n + BigInt(i)}`,
      severityNumber: 17,
      severityText: 'ERROR',
      body: { stringValue: `line ${request * perRequest + i}` },
      traceId: '5b8efff798038103d269b633813fc60c',
      spanId: 'eee19b7ec3c1b174',
      attributes: [
        { key: 'n', value: { intValue: String(request * perRequest + i) } },
        { key: 'big', value: { intValue: '9223372036854775807' } },
        { key: 'ratio', value: { doubleValue: 0.5 } },
        { key: 'ok', value: { boolValue: true } },
        { key: 'list', value: { arrayValue: { values: [{ stringValue: 'a' }, { intValue: '1' }] } } },
        text('exception.stacktrace', 'at a\n at b'),
      ],
    }))
    return { resource, scopeLogs: [{ scope: { name: 'lib', version: '1.0' }, logRecords }] }
  }

  async function start(
    name: string,
    compression: string,
  ): Promise<{ shipper: RunningCommand; receiver: string }> {
    const receiver = `127.0.0.1:${await ports.any()}`
    const folder = join(scratch, 'collector')
    mkdirSync(folder, { recursive: true })
    const file = join(folder, `${name}.json`)
    const exporter = {
      ...{ logs_endpoint: `${scene.url}${ingestPath}/v1/logs`, compression },
      tls: { ca_file: setting('KAPIS_CA') },
      headers: { Authorization: `Bearer ${scene.token}` },
      retry_on_failure: { initial_interval: '1s', max_interval: '5s', max_elapsed_time: '0s' },
    }
    const config = {
      receivers: { otlp: { protocols: { http: { endpoint: receiver } } } },
      exporters: { otlphttp: exporter },
      service: {
        telemetry: { metrics: { level: 'none' } },
        pipelines: { logs: { receivers: ['otlp'], exporters: ['otlphttp'] } },
      },
    }
    writeFileSync(file, JSON.stringify(config))
    const shipper = follow(program, ['--config', `file:${file}`])
    await eventually(async () => {
      await fetch(`http://${receiver}/`)
    }, 60_000)
    return { shipper, receiver }
  }

  async function send(receiver: string, namespace: string, request: number): Promise<void> {
    const { status } = await fetch(`http://${receiver}/v1/logs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ resourceLogs: [resourceLogs(namespace, request)] }),
    })
    expect(status).to.equal(200)
  }

  async function expectAll(namespace: string): Promise<void> {
    const lines = await scene.found(namespace, count, 120_000)
    expectEachOnce(
      lines.map(({ fields }) => Number(fields?.n)),
      count,
    )
    for (const { log, pod, container, fields } of lines) {
      expect([pod, container]).to.deep.equal(['web-0', 'web'])
      expect(fields).to.deep.equal({
        ...{ level: 'ERROR', severity_number: 17, n: Number(log.slice('line '.length)) },
        ...{ trace_id: '5b8efff798038103d269b633813fc60c', span_id: 'eee19b7ec3c1b174' },
        ...{ big: 9223372036854775807n, ratio: 0.5, ok: true, list: ['a', 1] },
        ...{ 'exception.stacktrace': 'at a\n at b', 'service.name': 'shop' },
        ...{ 'scope.name': 'lib', 'scope.version': '1.0' },
      })
    }
  }

  for (const compression of ['gzip', 'zstd', 'snappy', 'none']) {
    it(`sends ${count} records once with otlphttp and compression ${compression}`, async () => {
      const namespace = `${scene.namespace}-${compression}`
      const { shipper, receiver } = await start(compression, compression)
      try {
        for (let request = 0; request < requests; request += 1) await send(receiver, namespace, request)
        await expectAll(namespace)
      } finally {
        await shipper.stop()
      }
    })
  }

  it(`sends ${count} records once: without permission, after a lost connection, and after a SIGKILL of kapis-apiserver`, async () => {
    const namespace = `${scene.namespace}-faults`
    const { shipper, receiver } = await start('faults', 'gzip')
    const faults: Readonly<Record<number, () => Promise<void> | void>> = {
      2: () => scene.revoke(),
      10: () => scene.grant(),
      13: () => scene.cut(2_000),
      15: () => scene.restart(),
    }
    try {
      const done: (Promise<void> | void)[] = []
      for (let request = 0; request < requests; request += 1) {
        done.push(faults[request]?.())
        await send(receiver, namespace, request)
        await sleep(1000)
      }
      await Promise.all(done)
      await expectAll(namespace)
    } finally {
      await shipper.stop()
    }
  })
})
