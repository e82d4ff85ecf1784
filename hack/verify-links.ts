import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './controlplane/settings.ts'
import { findBrokenLinks } from './links/check.ts'

// make verify: every relative link and anchor of the documents must have a target.

const documents = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md'], { cwd: repository }).sort()
const broken = documents.flatMap(document =>
  findBrokenLinks(document, {
    exists: path => existsSync(join(repository, path)),
    read: path => readFileSync(join(repository, path), 'utf8'),
  }),
)
for (const problem of broken) console.error(problem)
if (broken.length > 0) process.exitCode = 1
