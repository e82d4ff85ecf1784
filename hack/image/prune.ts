import { readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { neededFiles } from './needed-files.ts'

// Leaves in node_modules what the programs beside it can load, and the licences of that; of each package.json what a program that runs
// goes by, and of JSON no blanks. Imports nothing but Node.js.
//   node --experimental-import-meta-resolve hack/image/prune.ts FOLDER

// Of use for kubeconfigs with plugins, whose programs are not in the image either, and five times as large as all other packages.
const without = ['@kubernetes/client-node']

const folder = process.argv[2] ?? '.'
const needed = new Set(neededFiles(folder, without))
prune('node_modules')

function prune(path: string): void {
  for (const entry of readdirSync(join(folder, path), { withFileTypes: true })) {
    const inside = join(path, entry.name)
    if (entry.isDirectory()) prune(inside)
    else if (needed.has(inside) && inside.endsWith('.json')) shorten(join(folder, inside), entry.name)
    else if (!needed.has(inside) && !isLicence(path, entry.name)) rmSync(join(folder, inside))
  }
  if (readdirSync(join(folder, path)).length === 0) rmdirSync(join(folder, path))
}

function isLicence(path: string, name: string): boolean {
  return /^(licen[cs]e|notice|copying)/i.test(name) && needed.has(join(path, 'package.json'))
}

function shorten(file: string, name: string): void {
  const content = JSON.parse(readFileSync(file, 'utf8'))
  const { name: title, version, license, type, main, exports, imports } = content
  const told =
    name === 'package.json' ? { name: title, version, license, type, main, exports, imports } : content
  writeFileSync(file, JSON.stringify(told))
}
