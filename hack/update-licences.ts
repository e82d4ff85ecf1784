import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { repository } from './controlplane/settings.ts'

// The twin of verify-supply-chain: writes docs/licences.md anew.
const { status } = spawnSync(
  process.execPath,
  [join(repository, 'hack/verify-supply-chain.ts'), '--update'],
  {
    stdio: 'inherit',
  },
)
process.exit(status ?? 1)
