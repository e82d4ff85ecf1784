import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

export type Reachable = { readonly files: readonly string[]; readonly packages: readonly string[] }

const imports = /(?:\bfrom|\bimport\s*\(?)\s*['"]([^'"]+)['"]/g

/** Returns the files that are reachable by imports from `entry`, and their packages. */
export function findReachable(folder: string, entry: string): Reachable {
  const files = new Set<string>()
  const packages = new Set<string>()
  const waiting = [entry]
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue
    files.add(file)
    if (!file.endsWith('.js')) continue
    for (const [, name = ''] of readFileSync(join(folder, file), 'utf8').matchAll(imports)) {
      if (name.startsWith('.')) waiting.push(normalize(join(dirname(file), name)))
      else if (!name.startsWith('node:')) packages.add(packageOf(name))
    }
  }
  return { files: [...files].sort(), packages: [...packages].sort() }
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
