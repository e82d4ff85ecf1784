import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeApi } from '../pkg/apiserver/api-description.ts'
import { renderApi } from './api/render.ts'
import { repository } from './controlplane/settings.ts'

// docs/api.md says what the rows beside the routes do. With --update it is written anew (make update).

const file = join(repository, 'docs/api.md')
const wanted = renderApi(describeApi('kapis.io'))
if (process.argv.includes('--update')) writeFileSync(file, wanted)
if (!existsSync(file) || readFileSync(file, 'utf8') !== wanted) {
  console.error('docs/api.md is not what the descriptions beside the routes say: run make update')
  process.exitCode = 1
}
