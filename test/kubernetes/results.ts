import { stripVTControlCharacters } from 'node:util'

/** Results by test name; skipped tests are not included. */
export type Results = ReadonlyMap<string, 'passed' | 'failed'>

export type Difference = { readonly test: string; readonly straight: string; readonly kapis: string }

/** Returns the tests whose result through Kapis differs from that at kube-apiserver. */
export function findDifferences(straight: Results, kapis: Results): readonly Difference[] {
  const names = [...new Set([...straight.keys(), ...kapis.keys()])].sort()
  return names
    .map(test => ({ test, straight: straight.get(test) ?? 'not run', kapis: kapis.get(test) ?? 'not run' }))
    .filter(row => row.straight !== row.kapis)
}

export function countPassed(results: Results): string {
  return `${[...results.values()].filter(state => state === 'passed').length} of ${results.size} passed`
}

/** Parses the results of groups in the output of kubectl's command suite (shell2junit). */
export function parseKubectlSuite(output: string): Results {
  const results = new Map<string, 'passed' | 'failed'>()
  let group: string | undefined
  const plain = stripVTControlCharacters(output)
  for (const [, name, exitCode] of plain.matchAll(/^(?:Recording: (\S+)|\+\+\+ exit code: (\d+))$/gm)) {
    if (name !== undefined) group = name
    // A group without an end has failed. The canary is a failure on purpose, with which the suite
    // tests itself.
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

/** Parses the specs in a JSON report of Ginkgo. @throws SyntaxError */
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
