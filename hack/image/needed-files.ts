import { existsSync, globSync, readFileSync } from 'node:fs'
import { createRequire, findPackageJSON, isBuiltin } from 'node:module'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const imported = /(?:\bfrom|\bimport\s*\(?)\s*['"]([^'"\s]+)['"]/g
const required = /\brequire\s*\(\s*['"]([^'"\s]+)['"]/g

/**
 * The files of node_modules that programs can load: what their own files import, what that imports, and so on, found as Node.js
 * finds them. Names that are put together when a program runs are not seen. What stands in a comment is taken for an import, too: better
 * a file too many.
 *
 * Needs `--experimental-import-meta-resolve`.
 *
 * @param folder the programs compiled, with node_modules beside them
 * @param without packages that are left out, and what only they need
 * @returns paths in `folder`, with the package.json that each of them goes by
 * @throws Error when a file of the programs imports what is not there
 */
export function neededFiles(folder: string, without: readonly string[]): readonly string[] {
  const own = globSync('{cmd,pkg}/**/*.js', { cwd: folder }).map(name => join(folder, name))
  const found = new Set<string>()
  const waiting = [...own]
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file)) continue
    found.add(file)
    const manifest = findPackageJSON(pathToFileURL(file))
    if (manifest !== undefined) found.add(manifest)
    if (!/\.[cm]?js$/.test(file)) continue
    for (const [name, target] of importsOf(file)) {
      if (without.some(left => name === left || name.startsWith(`${left}/`))) continue
      if (target !== undefined) waiting.push(target)
      else if (own.includes(file)) throw new Error(`${relative(folder, file)}: there is no ${name}`)
    }
  }
  return [...found]
    .map(file => relative(folder, file))
    .filter(name => name.startsWith('node_modules/'))
    .sort()
}

function importsOf(file: string): readonly (readonly [string, string | undefined])[] {
  const text = readFileSync(file, 'utf8')
  const names = (pattern: RegExp) =>
    [...new Set([...text.matchAll(pattern)].map(([, name = '']) => name))].filter(name => !isBuiltin(name))
  const require = createRequire(file)
  return [
    ...names(imported).map(name => [name, resolved(() => byImport(name, file))] as const),
    ...names(required).map(name => [name, resolved(() => require.resolve(name))] as const),
  ]
}

function byImport(name: string, file: string): string {
  return fileURLToPath(import.meta.resolve(name, pathToFileURL(file).href))
}

function resolved(resolve: () => string): string | undefined {
  try {
    const file = resolve()
    return existsSync(file) ? file : undefined
  } catch {
    return undefined
  }
}
