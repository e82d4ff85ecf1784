import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'yaml'
import { manifestsFolder } from '../cmd/kapis/manifests/build.ts'
import { baseNames, replaceNames } from '../cmd/kapis/manifests/replace-names.ts'
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
const attempts = 3
const pauseMs = 2000

/** @throws Error with the output of kubectl after three failures */
export async function applyManifests(
  kubectl: string,
  kubeconfig: string,
  groupDomain: string,
): Promise<void> {
  const text = renderManifests(groupDomain)
  if (text.trim() === '') return
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await apply(kubectl, kubeconfig, text)
    } catch (error) {
      if (attempt === attempts) throw error
      // A newly started kube-apiserver may serve a CRD some time after it has accepted it.
      await sleep(pauseMs)
    }
  }
}

async function apply(kubectl: string, kubeconfig: string, text: string): Promise<void> {
  const child = spawn(kubectl, ['apply', '--server-side', '--force-conflicts', '-f', '-'], {
    env: { ...childEnvironment(), KUBECONFIG: kubeconfig },
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let words = ''
  child.stderr.on('data', (chunk: Buffer) => {
    words += chunk.toString('utf8')
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  child.on('error', reject)
  child.on('close', code => (code === 0 ? resolve() : reject(new Error(`kubectl apply: ${words.trim()}`))))
  // If kubectl exits early, it prints the reason itself.
  child.stdin.on('error', () => undefined)
  child.stdin.end(text)
  return promise
}
