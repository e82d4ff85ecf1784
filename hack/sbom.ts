import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { completeSbom } from './sbom/complete.ts'

// Part of the build of the image: `npm sbom --sbom-format=spdx | node hack/sbom.ts FOLDER > sbom.spdx.json`, for what
// is in FOLDER of what npm has installed. Imports nothing but Node.js.

const sourceDateEpoch = Number(process.env.SOURCE_DATE_EPOCH || 0)
const { versions } = process
const isThere = (path: string) => existsSync(join(process.argv[2] ?? '.', path, 'package.json'))
console.log(
  JSON.stringify(completeSbom(JSON.parse(await text(process.stdin)), { sourceDateEpoch, versions, isThere })),
)
