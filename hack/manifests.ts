import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { manifestsFolder } from '../cmd/kapis/manifests/build.ts'
import { baseNames, replaceNames } from '../cmd/kapis/manifests/replace-names.ts'
import { retry } from '../pkg/kubeclient/retry.ts'
import { childEnvironment } from './controlplane/settings.ts'

/** Objects that only Pods need: here the programs run outside the cluster. */
const insideOnly = /(deployment|service|api-?service|pdb|disruption-budget|network-?policy)\.ya?ml$/

/** Returns the manifests that a control plane outside a cluster needs. */
export function renderManifests(groupDomain: string): string {
  const folder = join(manifestsFolder, 'base')
  const { resources = [] }: { resources?: string[] } = parse(
    readFileSync(join(folder, 'kustomization.yaml'), 'utf8'),
  )
  const files = resources.filter(name => !insideOnly.test(name))
  const texts = files.map(name => readFileSync(join(folder, name), 'utf8'))
  return replaceNames(texts.join('\n---\n'), baseNames, { ...baseNames, groupDomain })
}

/** @throws Error with the output of kubectl after three failures */
export async function applyManifests(
  kubectl: string,
  kubeconfig: string,
  groupDomain: string,
): Promise<void> {
  const args = ['apply', '--server-side', '--force-conflicts', '-f', '-']
  const options = { env: { ...childEnvironment(), KUBECONFIG: kubeconfig } }
  const apply = async () => {
    const running = promisify(execFile)(kubectl, args, options)
    // If kubectl exits early, it prints the reason itself.
    running.child.stdin?.on('error', () => undefined).end(renderManifests(groupDomain))
    await running
  }
  // A newly started kube-apiserver may serve a CRD some time after it has accepted it.
  await retry(apply, { isRetriable: () => true, attempts: 3, delayMs: () => 2000 })
}
