import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './controlplane/settings.ts'
import { findNamedTests, findProblem } from './security/named-tests.ts'

// Each row of the threat model names its tests, which must exist to prove anything.

const name = 'docs/security.md'
const read = (file: string) =>
  existsSync(join(repository, file)) ? readFileSync(join(repository, file), 'utf8') : undefined
const tests = findNamedTests(read(name) ?? '')
if (tests.length === 0) {
  console.error(`${name} refers to no test`)
  process.exitCode = 1
}
for (const test of tests) {
  const fault = findProblem(test, read(test.file))
  if (fault === undefined) continue
  console.error(`${name}:${test.line}: ${fault}`)
  process.exitCode = 1
}
