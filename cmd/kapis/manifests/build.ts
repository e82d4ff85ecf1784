import { execFile } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { hasCode } from '../session/error-code.ts'
import { baseNames, platformNames, replaceNames } from './replace-names.ts'
import type { ManifestSettings } from './settings.ts'

export const manifestsFolder = resolve(import.meta.dirname, '../../../manifests')

/**
 * Builds an overlay with the names, image and replicas of an installation. Without settings the
 * result is that of `kubectl kustomize manifests/overlays/<overlay>`.
 *
 * @param kubectl path of kubectl, which contains kustomize
 * @throws Error of kubectl, or if kubectl or a folder for temporary files is missing
 */
export async function buildManifests(settings: ManifestSettings, kubectl: string): Promise<string> {
  const folder = makeFolder(tmpdir())
  try {
    copyTree(settings, join(folder, 'manifests'))
    const top = join(folder, 'top')
    mkdirSync(top)
    // JSON is valid YAML.
    writeFileSync(join(top, 'kustomization.yaml'), JSON.stringify(topKustomization(settings)))
    return await runKustomize(kubectl, top)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Creates a folder with copies of the files, since kustomize reads no files outside its folder. */
function makeFolder(parent: string): string {
  try {
    return mkdtempSync(join(parent, 'kapis-manifests-'))
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? error.code : String(error)
    throw new Error(
      `${parent} is not writable (${reason}), but kustomize needs temporary files: mount a tmpfs or an emptyDir there, or set TMPDIR to a writable folder`,
    )
  }
}

function copyTree({ overlay, groupDomain, namespace }: ManifestSettings, target: string): void {
  const from = overlay === 'kubesphere' ? platformNames : baseNames
  const to = { groupDomain: groupDomain ?? from.groupDomain, namespace: namespace ?? from.namespace }
  cpSync(manifestsFolder, target, { recursive: true })
  for (const name of globSync('**/*.{yaml,json}', { cwd: target })) {
    const file = join(target, name)
    if (statSync(file).isFile()) writeFileSync(file, replaceNames(readFileSync(file, 'utf8'), from, to))
  }
}

function topKustomization({ overlay, image, replicas }: ManifestSettings) {
  return {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [`../manifests/overlays/${overlay}`],
    ...(image === undefined ? {} : { images: [toImage(image)] }),
    ...(replicas === undefined ? {} : { replicas: [{ name: 'kapis', count: replicas }] }),
  }
}

/** Splits an image: a colon after the last slash precedes the tag, an earlier one the port. */
function toImage(image: string) {
  const [reference = '', digest] = image.split('@')
  const [, newName, newTag] = /^(.*?)(?::([^/:]*))?$/.exec(reference) ?? []
  return {
    name: 'kapis',
    newName,
    ...(newTag === undefined ? {} : { newTag }),
    ...(digest === undefined ? {} : { digest }),
  }
}

async function runKustomize(kubectl: string, folder: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(kubectl, ['kustomize', folder], { maxBuffer: 2 ** 24 })
    return stdout
  } catch (error) {
    if (hasCode(error, 'ENOENT')) throw new Error(`${kubectl} not found: it is needed to run kustomize`)
    throw new Error(error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error))
  }
}
