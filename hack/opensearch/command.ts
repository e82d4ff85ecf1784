import { join } from 'node:path'
import { ensureOpenSearch } from './install.ts'
import { findJava, oldestJava } from './java.ts'

export type Command = { readonly command: string; readonly args: readonly string[] }

/**
 * How a node is started that keeps its data in a folder and listens on a port of loopback.
 *
 * @throws Error when there is no Java, or OpenSearch cannot be had
 */
export async function openSearchCommand(
  { folder, port, heapMb = 1024 }: { folder: string; port: number; heapMb?: number },
  say: (line: string) => void,
): Promise<Command> {
  const command = findJava()
  if (command === undefined) {
    throw new Error(
      `OpenSearch needs Java ${oldestJava} or later: none is in JAVA_HOME, on PATH or in /usr/lib/jvm`,
    )
  }
  const libraries = await ensureOpenSearch(say)
  return {
    command,
    args: [
      `-Xms${heapMb}m`,
      `-Xmx${heapMb}m`,
      '--enable-native-access=ALL-UNNAMED',
      '--add-modules=jdk.incubator.vector',
      '-cp',
      join(libraries, '*'),
      join(import.meta.dirname, 'Launcher.java'),
      folder,
      String(port),
    ],
  }
}
