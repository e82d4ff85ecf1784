import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { withLock } from '../controlplane/processes/lock-file.ts'
import type { Libraries } from './engines.ts'

/**
 * Returns the folder with the libraries of an engine from the shared cache. Otherwise Maven
 * resolves its pom.xml, and checksums.txt verifies the files.
 *
 * @throws Error if Maven is missing or fails, or a checksum differs
 */
export async function ensureLibraries(
  { name, version, pom, checksums }: Libraries,
  say: (line: string) => void,
): Promise<string> {
  const parent = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'kapis/opensearch')
  const folder = join(parent, version)
  if (existsSync(folder)) return folder
  mkdirSync(parent, { recursive: true })
  return withLock(`${folder}.lock`, say, async () => {
    if (existsSync(folder)) return folder
    const scratch = mkdtempSync(`${folder}.new-`)
    try {
      say(`${name} is not in the cache yet: downloading it with Maven (10 to 70 MB)`)
      await resolve(pom, scratch)
      check(scratch, checksums)
      renameSync(scratch, folder)
      say(`${name} is in ${folder}`)
      return folder
    } finally {
      rmSync(scratch, { recursive: true, force: true })
    }
  })
}

function resolve(pom: string, folder: string): Promise<void> {
  const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'
  const args = ['-B', '-ntp', '-q', '-C', '-f', pom, goal, `-DoutputDirectory=${folder}`]
  const child = spawn('mvn', args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  const { promise, resolve: done, reject } = Promise.withResolvers<void>()
  child.on('error', error => reject(new Error(`Maven (mvn) cannot be started: ${error.message}`)))
  child.on('close', code => {
    if (code === 0) done()
    else reject(new Error(`Maven ended with ${code}:\n${output.trim().split('\n').slice(-10).join('\n')}`))
  })
  return promise
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
