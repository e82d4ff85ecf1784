import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ensureCached } from '../controlplane/binaries/cache.ts'
import type { Libraries } from './engines.ts'

/**
 * Returns the folder with the libraries of an engine from the shared cache. Otherwise Maven
 * resolves its pom.xml, and checksums.txt verifies the files.
 *
 * @throws Error if Maven is missing or fails, or a checksum differs
 */
export function ensureLibraries(
  { name, version, pom, checksums }: Libraries,
  say: (line: string) => void,
): Promise<string> {
  return ensureCached(join('opensearch', version), say, async folder => {
    say(`${name} is not in the cache yet: downloading it with Maven (10 to 70 MB)`)
    const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'
    const args = ['-B', '-ntp', '-q', '-C', '-f', pom, goal, `-DoutputDirectory=${folder}`]
    await promisify(execFile)('mvn', args).catch(({ message, stdout = '', stderr = '' }) => {
      const lines = `${stdout}${stderr}`.trim().split('\n').slice(-10)
      throw new Error(`Maven (mvn) failed:\n${lines.join('\n') || message}`)
    })
    check(folder, checksums)
  })
}

/** Verifies recorded checksums: Maven gets its own from the same server as the files. */
function check(folder: string, checksums: string): void {
  const lines = readFileSync(checksums, 'utf8').trim().split('\n')
  const expected = new Map(lines.map(line => [line.slice(66), line.slice(0, 64)]))
  const found = readdirSync(folder)
  const other = found.find(name => {
    const hash = createHash('sha256').update(readFileSync(join(folder, name)))
    return expected.get(name) !== hash.digest('hex')
  })
  if (other !== undefined) throw new Error(`${other} does not match the checksum in ${checksums}`)
  const lacking = [...expected.keys()].find(name => !found.includes(name))
  if (lacking !== undefined) throw new Error(`${lacking} was not resolved`)
}
