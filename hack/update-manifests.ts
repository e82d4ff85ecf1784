import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { repository } from './controlplane/settings.ts'

// The twin of verify-manifests: writes manifests/overlays/kubesphere/base anew.
const { status } = spawnSync(process.execPath, [join(repository, 'hack/verify-manifests.ts'), '--update'], {
  stdio: 'inherit',
})
process.exit(status ?? 1)
