import { posix } from 'node:path'
import { type Finding, findImports, type SourceFile } from './check.ts'

/**
 * Files that import each other in a loop, types too: none of them can be understood, tested or moved without the others. Each
 * loop is told of once, at the import that closes it.
 */
export function findCircles(files: readonly SourceFile[]): Finding[] {
  const importsOf = new Map(files.map(file => [file.path, neighbours(file)]))
  const findings: Finding[] = []
  const done = new Set<string>()

  function visit(path: string, trail: readonly string[]): void {
    if (done.has(path)) return
    const way = [...trail, path]
    for (const { target, line } of importsOf.get(path) ?? []) {
      const start = way.indexOf(target)
      if (start === -1) {
        visit(target, way)
        continue
      }
      const loop = [...way.slice(start), target].join(' -> ')
      findings.push({ file: path, line, message: `files import each other in a circle: ${loop}` })
    }
    done.add(path)
  }

  for (const { path } of files) visit(path, [])
  return findings
}

function neighbours({ path, text }: SourceFile): { target: string; line: number }[] {
  return findImports(text)
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier, line }) => ({ target: posix.join(posix.dirname(path), specifier), line }))
}
