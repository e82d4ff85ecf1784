import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { repository } from './controlplane/settings.ts'

// The twin of verify-api: writes docs/api.md anew.
const { status } = spawnSync(process.execPath, [join(repository, 'hack/verify-api.ts'), '--update'], {
  stdio: 'inherit',
})
process.exit(status ?? 1)
