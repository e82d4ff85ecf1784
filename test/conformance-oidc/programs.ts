import { spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createPortFinder } from '../../hack/controlplane/processes/ports.ts'
import { ensureLibraries } from '../../hack/opensearch/install.ts'
import { findJava } from '../../hack/opensearch/java.ts'

const oldestJava = 21

export type Programs = {
  readonly url: string
  /** Path of the certificate of the suite. */
  readonly caFile: string
  /** Aborts when one of the programs exits. */
  readonly ended: AbortSignal
}

/**
 * Starts a built checkout of the conformance suite and its database, on loopback ports, until this
 * process exits. Their output is in the folder.
 *
 * @throws Error without Java or a built suite
 */
export async function startSuite(checkout: string, folder: string): Promise<Programs> {
  const jar = resolve(checkout, 'target/fapi-test-suite.jar')
  if (!existsSync(jar)) throw new Error(`${jar} does not exist: run "mvn -DskipTests package" in ${checkout}`)
  const java = findJava(oldestJava)
  if (java === undefined) throw new Error(`the suite needs Java ${oldestJava} or later (JAVA_HOME)`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const libraries = await ensureLibraries(database, console.error)
  const { keyStore, caFile } = createKeyStore(java, folder)
  const ports = createPortFinder()
  const [port, databasePort] = [await ports.any(), await ports.any()]
  const url = `https://localhost:${port}`
  const ended = new AbortController()
  const start = (name: string, args: readonly string[]) => {
    const output = openSync(join(folder, `${name}.log`), 'w')
    const child = spawn(java, args, { stdio: ['ignore', output, output] })
    closeSync(output)
    child.on('close', () => ended.abort(new Error(`the ${name} has ended: see ${folder}/${name}.log`)))
    process.once('exit', () => child.kill())
  }
  const launcher = join(import.meta.dirname, 'MongoServer.java')
  start('database', ['-Xmx512m', '-cp', join(libraries, '*'), launcher, String(databasePort)])
  start('suite', [
    ...['-Xmx1500m', '-jar', jar, '--spring.profiles.active=dev', '--fintechlabs.devmode=true'],
    ...[`--fintechlabs.base_url=${url}`, `--fintechlabs.base_mtls_url=${url}`],
    `--spring.mongodb.uri=mongodb://127.0.0.1:${databasePort}/test_suite`,
    ...[`--server.port=${port}`, '--server.ssl.enabled=true', `--server.ssl.key-store=${keyStore}`],
    ...['--server.ssl.key-store-type=PKCS12', `--server.ssl.key-store-password=${password}`],
  ])
  return { url, caFile, ended: ended.signal }
}

const database = {
  ...{ name: 'mongo-java-server', version: 'mongo-java-server-1.47.0' },
  pom: join(import.meta.dirname, 'pom.xml'),
  checksums: join(import.meta.dirname, 'checksums.txt'),
}

const password = 'changeit'

/** Creates a certificate for localhost, which Kapis must trust to send logout tokens. */
function createKeyStore(java: string, folder: string) {
  const [keyStore, caFile] = [join(folder, 'suite.p12'), join(folder, 'suite.crt')]
  const keytool = java === 'java' ? 'keytool' : join(java, '../keytool')
  const store = ['-alias', 'suite', '-keystore', keyStore, '-storepass', password]
  const made = spawnSync(keytool, [
    ...['-genkeypair', ...store, '-storetype', 'PKCS12', '-keyalg', 'RSA', '-keysize', '2048'],
    ...['-dname', 'CN=localhost', '-ext', 'san=dns:localhost', '-validity', '7'],
  ])
  const shown = spawnSync(keytool, ['-exportcert', '-rfc', ...store, '-file', caFile])
  if (made.status !== 0 || shown.status !== 0)
    throw new Error(`keytool failed: ${made.stdout ?? ''}${made.stderr ?? made.error ?? ''}`)
  return { keyStore, caFile }
}

export function readCa({ caFile }: Programs): string {
  return readFileSync(caFile, 'utf8')
}
