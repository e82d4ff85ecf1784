import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { output } from '../e2e/run.ts'

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'kapis/shippers')
const timeoutMs = 1_800_000

/** Must equal the version of the image in manifests/components/fluent-bit. */
export const fluentBitVersion = '4.1.1'
const filebeatVersion = '7.17.29'
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

/** Filebeat without the parts under the Elastic License, built from its Go module. */
export async function filebeatProgram(): Promise<string> {
  const folder = join(cache, `filebeat-${filebeatVersion}`)
  const program = join(folder, 'filebeat')
  if (existsSync(program)) return program
  const module = `github.com/elastic/beats/v7@v${filebeatVersion}`
  const downloaded = await output('go', ['mod', 'download', '-json', module], { timeoutMs })
  // Built in its own folder, since replacements and checksums of a module only apply there.
  const { Dir: source } = JSON.parse(downloaded)
  await output('go', ['build', '-o', program, './filebeat'], {
    ...{ cwd: source, env: { CGO_ENABLED: '0' }, timeoutMs },
  })
  return program
}

/**
 * Unpacks a program of Debian 12 without installing it, since two of them conflict.
 *
 * @returns the folder, which contains usr/
 */
async function debianFolder(name: string, packages: readonly string[]): Promise<string> {
  const folder = join(cache, name)
  if (existsSync(join(folder, 'done'))) return folder
  mkdirSync(folder, { recursive: true })
  await output('apt-get', ['download', ...packages], { cwd: folder, timeoutMs })
  const unpack = 'for file in *.deb; do dpkg-deb -x "$file" .; done && touch done'
  await output('bash', ['-ec', unpack], { cwd: folder, timeoutMs })
  return folder
}

/** Path of a Debian program, and the environment variables for its libraries. */
export type DebianProgram = {
  readonly folder: string
  readonly program: string
  readonly env: Readonly<Record<string, string>>
}

/** rsyslog 8.2302 of Debian 12, with omelasticsearch. */
export async function rsyslogProgram(): Promise<DebianProgram> {
  const packages = ['rsyslog', 'rsyslog-elasticsearch', 'libestr0', 'libfastjson4', 'liblognorm5']
  const folder = await debianFolder('rsyslog-8.2302', packages)
  const libraries = join(folder, 'usr/lib/x86_64-linux-gnu')
  return { folder, program: join(folder, 'usr/sbin/rsyslogd'), env: { LD_LIBRARY_PATH: libraries } }
}

/** syslog-ng 3.38 of Debian 12, with its configuration library. */
export async function syslogNgProgram(): Promise<DebianProgram> {
  const packages = ['syslog-ng-core', 'syslog-ng-mod-http', 'syslog-ng-scl']
  const folder = await debianFolder('syslog-ng-3.38', [...packages, 'libivykis0', 'libnet1', 'libpcre3'])
  const libraries = ['usr/lib/x86_64-linux-gnu', 'lib/x86_64-linux-gnu', 'usr/lib/syslog-ng']
  const path = libraries.map(library => join(folder, library)).join(':')
  return { folder, program: join(folder, 'usr/sbin/syslog-ng'), env: { LD_LIBRARY_PATH: path } }
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
