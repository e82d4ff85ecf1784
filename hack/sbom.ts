import { text } from 'node:stream/consumers'
import { completeSbom } from './sbom/complete.ts'

// Part of the build of the image: `npm sbom --sbom-format=spdx | node hack/sbom.ts > sbom.spdx.json`. Imports nothing but Node.js.

const sourceDateEpoch = Number(process.env.SOURCE_DATE_EPOCH || 0)
const { versions } = process
console.log(
  JSON.stringify(completeSbom(JSON.parse(await text(process.stdin)), { sourceDateEpoch, versions })),
)
