import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const folders = ['/usr/lib/jvm', '/opt', '/Library/Java/JavaVirtualMachines']

/** Returns a recent `java` from JAVA_HOME, PATH or the usual folders, whose default may be old. */
export function findJava(oldest: number, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const homes = folders
    .filter(folder => existsSync(folder))
    .flatMap(folder => readdirSync(folder).map(name => join(folder, name)))
    .flatMap(home => [home, join(home, 'Contents/Home')])
  const candidates = [...(env.JAVA_HOME ? [env.JAVA_HOME] : []), ...homes].map(home => join(home, 'bin/java'))
  const [own, ...others] = env.JAVA_HOME ? candidates : ['', ...candidates]
  const inOrder = [...(own ? [own] : []), 'java', ...others]
  return inOrder.find(java => versionOf(java) >= oldest)
}

/** Returns the feature release of Java; 0 if the program does not exist. */
function versionOf(java: string): number {
  if (java !== 'java' && !existsSync(java)) return 0
  const { stderr } = spawnSync(java, ['-version'], { encoding: 'utf8' })
  return Number(/version "(\d+)/.exec(stderr ?? '')?.[1] ?? 0)
}
