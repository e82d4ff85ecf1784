import { stripVTControlCharacters } from 'node:util'

/** The names of the tests that passed; skipped ones are not included. */
export type Results = ReadonlyMap<string, 'passed' | 'failed'>

export type Difference = { readonly test: string; readonly straight: string; readonly kapis: string }

/** The tests with different results through Kapis and directly at kube-apiserver. */
export function findDifferences(straight: Results, kapis: Results): readonly Difference[] {
  const names = [...new Set([...straight.keys(), ...kapis.keys()])].sort()
  return names
    .map(test => ({ test, straight: straight.get(test) ?? 'not run', kapis: kapis.get(test) ?? 'not run' }))
    .filter(row => row.straight !== row.kapis)
}

export function countPassed(results: Results): string {
  return `${[...results.values()].filter(state => state === 'passed').length} of ${results.size} passed`
}

/**
 * Parses the groups of kubectl's command suite from its output (test/cmd/legacy-script.sh and
 * shell2junit).
 */
export function parseKubectlSuite(output: string): Results {
  const results = new Map<string, 'passed' | 'failed'>()
  let group: string | undefined
  const plain = stripVTControlCharacters(output)
  for (const [, name, exitCode] of plain.matchAll(/^(?:Recording: (\S+)|\+\+\+ exit code: (\d+))$/gm)) {
    if (name !== undefined) group = name
    // A group that did not complete has failed. The canary is the suite's check that failures are
    // detected.
    if (group !== undefined && group !== 'record_command_canary')
      results.set(group, exitCode === '0' ? 'passed' : 'failed')
  }
  return results
}

type Spec = {
  readonly ContainerHierarchyTexts: readonly string[] | null
  readonly LeafNodeType: string
  readonly LeafNodeText: string
  readonly State: string
}

/** The specs of a JSON report of Ginkgo. @throws SyntaxError */
export function parseGinkgoReport(json: string): Results {
  const suites: readonly { readonly SpecReports: readonly Spec[] | null }[] = JSON.parse(json)
  const results = new Map<string, 'passed' | 'failed'>()
  for (const { SpecReports } of suites)
    for (const spec of SpecReports ?? []) {
      if (spec.LeafNodeType !== 'It' || spec.State === 'skipped' || spec.State === 'pending') continue
      const name = [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(' ')
      results.set(name, spec.State === 'passed' ? 'passed' : 'failed')
    }
  return results
}
