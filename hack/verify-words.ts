import { spawnSync } from 'node:child_process'
import { repository } from './controlplane/settings.ts'

// Words that CONTRIBUTING.md replaces by standard terms must not occur in names, comments, messages
// or documents.

const exempt = ['CONTRIBUTING.md', 'hack/words']
const args = [
  'grep',
  '-nIiwE',
  '-f',
  'hack/words/forbidden.txt',
  '--',
  '.',
  ...exempt.map(path => `:!${path}`),
]
const { status, stdout, stderr } = spawnSync('git', args, { cwd: repository, encoding: 'utf8' })
// The exit code 1 of git grep means that there are no matches.
if (status !== 1) {
  console.error(stdout || stderr)
  process.exitCode = 1
}
