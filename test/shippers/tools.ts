import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { output } from '../e2e/run.ts'

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'kapis/shippers')
const timeoutMs = 1_800_000

/** Must equal the version of the image in manifests/components/fluent-bit. */
export const fluentBitVersion = '4.1.1'
const collectorVersion = '0.165.0'

/**
 * Returns the path of Fluent Bit: FLUENT_BIT, or a build from source (requires CMake, flex, bison
 * and SQLite).
 */
export async function fluentBit(): Promise<string> {
  const given = process.env.FLUENT_BIT
  const program = given ?? join(cache, `fluent-bit-${fluentBitVersion}/build/bin/fluent-bit`)
  if (given === undefined && !existsSync(program)) {
    await output('bash', [join(import.meta.dirname, 'build-fluent-bit.sh'), fluentBitVersion, cache], {
      timeoutMs,
    })
  }
  const printed = await output(program, ['--version'])
  if (!printed.startsWith(`Fluent Bit v${fluentBitVersion}\n`))
    throw new Error(`${program} is not Fluent Bit ${fluentBitVersion}: ${printed.split('\n')[0]}`)
  return program
}

/**
 * Returns the path of an OpenTelemetry Collector with the components of collector.yaml, built with
 * Go.
 */
export async function collector(): Promise<string> {
  const program = join(cache, `otelcol-${collectorVersion}/otelcol`)
  if (existsSync(program)) return program
  mkdirSync(cache, { recursive: true })
  const builder = `go.opentelemetry.io/collector/cmd/builder@v${collectorVersion}`
  const config = join(import.meta.dirname, 'collector.yaml')
  await output('go', ['run', builder, '--config', config], {
    ...{ cwd: cache, env: { CGO_ENABLED: '0' }, timeoutMs },
  })
  return program
}

/** Returns the path of a Python with the pinned packages of a requirements file. */
export async function python(requirements: string): Promise<string> {
  const folder = join(cache, `python-${requirements.replace(/\.txt$/, '')}`)
  const program = join(folder, 'bin/python3')
  if (existsSync(join(folder, 'done'))) return program
  await output('python3', ['-m', 'venv', '--clear', folder], { timeoutMs })
  const file = join(import.meta.dirname, requirements)
  await output(program, ['-m', 'pip', 'install', '-q', '--no-deps', '-r', file], { timeoutMs })
  await output('touch', [join(folder, 'done')])
  return program
}
