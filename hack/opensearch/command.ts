import { readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Engine, findEngine, findSecuredEngine } from './engines.ts'
import { ensureLibraries } from './install.ts'
import { findJava } from './java.ts'

export type Command = { readonly command: string; readonly args: readonly string[] }

/** Reports whether Java for the engine is installed; nothing else can be missing. */
export function hasJava(): boolean {
  return hasJavaFor(findEngine())
}

export function hasJavaFor({ oldestJava }: Engine): boolean {
  return findJava(oldestJava) !== undefined
}

export type NodeSettings = { readonly folder: string; readonly port: number; readonly heapMb?: number }

/**
 * Returns the command of a single node on a loopback port, with its data in a folder: OpenSearch 3,
 * or the engine of STORE.
 *
 * @throws Error without Java, or if the engine cannot be downloaded
 */
export async function openSearchCommand(where: NodeSettings, say: (line: string) => void): Promise<Command> {
  const engine = findEngine()
  const java = javaOf(engine)
  return command(java, where, launch(engine, await ensureLibraries(engine, say), where))
}

/**
 * Returns the command of an Elasticsearch with security. The `config` folder must contain TLS files
 * (`http.crt` and `http.key`, PEM) and users (`users` and `users_roles` of the file realm).
 *
 * @throws Error like {@link openSearchCommand}
 */
export async function securedCommand(where: NodeSettings, say: (line: string) => void): Promise<Command> {
  const { engine, security } = findSecuredEngine()
  const java = javaOf(engine)
  const [own, more] = [await ensureLibraries(engine, say), await ensureLibraries(security, say)]
  return command(java, where, [...launch(engine, own, where), more, source('KeysPlugin.java')])
}

function javaOf({ name, oldestJava }: Engine): string {
  const java = findJava(oldestJava)
  if (java !== undefined) return java
  throw new Error(
    `${name} needs Java ${oldestJava} or later: none is in JAVA_HOME, on PATH or in /usr/lib/jvm`,
  )
}

function command(java: string, { heapMb = 1024 }: NodeSettings, launched: readonly string[]): Command {
  const memory = [`-Xms${heapMb}m`, `-Xmx${heapMb}m`]
  const modules = ['--enable-native-access=ALL-UNNAMED', '--add-modules=jdk.incubator.vector']
  return { command: java, args: [...memory, ...modules, ...launched] }
}

function launch({ launcher, version }: Engine, libraries: string, { folder, port }: NodeSettings): string[] {
  const where = [source(launcher), folder, String(port)]
  if (launcher !== 'ElasticsearchNode.java') return ['-cp', join(libraries, '*'), ...where]
  const server = readdirSync(libraries).filter(name => !/^(netty|transport-netty4)-/.test(name))
  const classPath = server.map(name => join(libraries, name)).join(delimiter)
  return ['-cp', classPath, ...where, version, libraries, source('WordsPlugin.java')]
}

function source(name: string): string {
  return join(import.meta.dirname, name)
}
