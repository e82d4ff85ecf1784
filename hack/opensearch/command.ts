import { readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Engine, findEngine } from './engines.ts'
import { ensureLibraries } from './install.ts'
import { findJava } from './java.ts'

export type Command = { readonly command: string; readonly args: readonly string[] }

/** Whether there is a Java for the engine: of what it needs, that alone is not to be had everywhere. */
export function hasJava(): boolean {
  return findJava(findEngine().oldestJava) !== undefined
}

/**
 * How a node is started that keeps its data in a folder and listens on a port of loopback: OpenSearch 3, or the engine that
 * STORE names.
 *
 * @throws Error when there is no Java, or the engine cannot be had
 */
export async function openSearchCommand(
  { folder, port, heapMb = 1024 }: { folder: string; port: number; heapMb?: number },
  say: (line: string) => void,
): Promise<Command> {
  const engine = findEngine()
  const command = findJava(engine.oldestJava)
  if (command === undefined) {
    throw new Error(
      `${engine.name} needs Java ${engine.oldestJava} or later: none is in JAVA_HOME, on PATH or in /usr/lib/jvm`,
    )
  }
  const libraries = await ensureLibraries(engine, say)
  return {
    command,
    args: [
      `-Xms${heapMb}m`,
      `-Xmx${heapMb}m`,
      '--enable-native-access=ALL-UNNAMED',
      '--add-modules=jdk.incubator.vector',
      ...launch(engine, libraries, folder, String(port)),
    ],
  }
}

function launch({ launcher, version }: Engine, libraries: string, ...where: readonly string[]): string[] {
  const source = join(import.meta.dirname, launcher)
  if (launcher !== 'ElasticsearchNode.java') return ['-cp', join(libraries, '*'), source, ...where]
  const server = readdirSync(libraries).filter(name => !/^(netty|transport-netty4)-/.test(name))
  const classPath = server.map(name => join(libraries, name)).join(delimiter)
  const words = join(import.meta.dirname, 'WordsPlugin.java')
  return ['-cp', classPath, source, ...where, version, libraries, words]
}
