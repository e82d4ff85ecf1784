import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '../../../pkg/kubeclient/object/object.ts'
import { parseYamlDocuments } from '../../../pkg/yaml/read.ts'
import { manifestsFolder } from '../manifests/build.ts'
import { baseNames, type Names, replaceNames } from '../manifests/replace-names.ts'

export type ManifestObject = {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly rules?: readonly Rule[]
}
export type Rule = {
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
  readonly verbs: readonly string[]
}

/** Returns the objects of manifests/base, which the doctor compares with the installed objects. */
export function readManifests(names: Names): readonly ManifestObject[] {
  const folder = join(manifestsFolder, 'base')
  const files = globSync('{*,crds/*}.yaml', { cwd: folder }).filter(name => name !== 'kustomization.yaml')
  return files.flatMap(name => {
    const text = replaceNames(readFileSync(join(folder, name), 'utf8'), baseNames, names)
    return parseYamlDocuments(text).filter(isManifest)
  })
}

function isManifest(value: unknown): value is ManifestObject {
  return isRecord(value) && typeof value.kind === 'string' && isRecord(value.metadata)
}
