import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { strip } from './elf.ts'

// Part of the build of the image: node hack/image/strip.ts FROM TO. Imports nothing but Node.js.

const [from = '', to = ''] = process.argv.slice(2)
writeFileSync(to, strip(readFileSync(from)), { mode: statSync(from).mode })
