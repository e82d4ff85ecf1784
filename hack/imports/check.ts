import { posix } from 'node:path'
import { findPlace, packageRefusal, refusal } from './layers.ts'

/** One broken rule, as a compiler would tell it. */
export type Finding = { readonly file: string; readonly line: number; readonly message: string }

export type SourceFile = { readonly path: string; readonly text: string }

const maxLines = 400
const drawers = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'models', 'types', 'misc', 'shared'])

/** Checks one file of cmd/ or pkg/ against the rules of docs/architecture.md. */
export function checkFile({ path, text }: SourceFile): Finding[] {
  const findings: Finding[] = []
  const report = (line: number, message: string) => void findings.push({ file: path, line, message })
  // Fixtures and test servers are part of the tests that use them.
  const isTest = /(\.test|-test-[a-z-]+|fixtures)\.ts$/.test(path) || path.includes('/fixtures/')

  const lines = text.replace(/\n$/, '').split('\n').length
  if (lines > maxLines) report(maxLines + 1, `${lines} lines; more than ${maxLines} are two files`)
  if (posix.basename(path) === 'index.ts') report(1, 'no barrel files: import the file that defines a name')
  for (const folder of posix.dirname(path).split('/')) {
    if (drawers.has(folder)) report(1, `no folder named ${folder}: say what is in it`)
  }
  for (const { specifier, line } of findImports(text)) {
    const message = checkImport(path, specifier, isTest)
    if (message !== undefined) report(line, message)
  }
  return findings
}

function checkImport(path: string, specifier: string, isTest: boolean): string | undefined {
  if (specifier.startsWith('node:')) return undefined
  if (!specifier.startsWith('.')) return packageRefusal(path, specifier, isTest)
  const target = posix.join(posix.dirname(path), specifier)
  const from = findPlace(path)
  const to = findPlace(target)
  if (from === undefined || isTest) return undefined
  // The version that the programs tell.
  if (target === 'package.json' && from.room === 'cmd') return undefined
  if (to === undefined) return `${target} lies outside of the rooms of cmd and pkg`
  if (/(\.test|-test-[a-z-]+|fixtures)\.ts$/.test(target)) return `${target} is for tests alone`
  return refusal(from, to)
}

const statement =
  /(?:^|[;\n])\s*(?:import|export)\s+(?:[^'";]*?\sfrom\s*)?['"]([^'"\n]+)['"]|\bimport\(\s*['"]([^'"\n]+)['"]/g

/** What a file imports, type imports and re-exports too, with the line on which it is named. */
export function findImports(text: string): { specifier: string; line: number }[] {
  const code = withoutComments(text)
  return [...code.matchAll(statement)].map(match => ({
    specifier: match[1] ?? match[2] ?? '',
    line: code.slice(0, match.index + match[0].length).split('\n').length,
  }))
}

/** Comments may show imports. Line breaks stay, so that lines can be counted. */
function withoutComments(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, comment => comment.replaceAll(/[^\n]/g, ' '))
    .replaceAll(/^\s*\/\/.*$/gm, '')
}
