import { existsSync } from 'node:fs'
import { devNull, homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { readRegularFile } from '../../../pkg/files/read-regular-file.ts'
import { readSource } from '../../../pkg/yaml/edit/source.ts'
import { child, field, type Value } from '../../../pkg/yaml/edit/value.ts'
import { hasCode } from '../session/error-code.ts'
import { assertLoadable } from './assert-loadable.ts'
import { type DecodedText, decode } from './encoding.ts'

type Env = Readonly<Record<string, string | undefined>>
export type ListName = 'clusters' | 'contexts' | 'users'

/** Returns the files that kubectl merges: --kubeconfig, KUBECONFIG, otherwise ~/.kube/config. */
export function kubeconfigFiles(env: Env, explicit?: string): readonly string[] {
  if (explicit !== undefined) return [explicit]
  if (!env.KUBECONFIG) return [join(homedir(), '.kube', 'config')]
  const named = [...new Set(env.KUBECONFIG.split(delimiter))].filter(file => file !== '')
  if (named.length === 0) throw new Error('invalid KUBECONFIG: it contains no file name')
  return named
}

export type KubeconfigFile = { readonly path: string; readonly decoded: DecodedText; readonly value: Value }

/** The merged kubeconfig of several files. */
export type Kubeconfig = {
  readonly files: readonly KubeconfigFile[]
  /** The file to which kubectl writes new entries: the first existing file, otherwise the last. */
  readonly defaultFile: string
}

/** @throws Error with the name of a file that kubectl cannot load */
export function loadKubeconfig(paths: readonly string[]): Kubeconfig {
  const files = paths.flatMap(path => {
    const bytes = readIfExists(path)
    return bytes === undefined ? [] : [load(path, bytes)]
  })
  const defaultFile = paths.find(path => existsSync(path)) ?? paths.at(-1) ?? ''
  return { files, defaultFile }
}

/** Returns the first file that has an entry, which is the one that kubectl uses. */
export function fileOf({ files }: Kubeconfig, list: ListName, name: string): KubeconfigFile | undefined {
  return files.find(({ value }) => child(field(value, list), { name }) !== undefined)
}

/** Returns the `cluster`, `context` or `user` of an entry, from the first file that has it. */
export function entryOf(config: Kubeconfig, list: ListName, name: string): Value | undefined {
  const file = fileOf(config, list, name)
  if (file === undefined) return undefined
  return field(child(field(file.value, list), { name }), bodyOf[list]) ?? null
}

export const bodyOf: Readonly<Record<ListName, string>> = {
  clusters: 'cluster',
  contexts: 'context',
  users: 'user',
}

function load(path: string, bytes: Buffer): KubeconfigFile {
  try {
    const decoded = decode(bytes)
    const { value } = readSource(decoded.text)
    assertLoadable(value)
    return { path, decoded, value }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`invalid kubeconfig ${path}: ${why}; kubectl cannot load it either`)
  }
}

function readIfExists(path: string): Buffer | undefined {
  if (path === devNull) return Buffer.alloc(0)
  try {
    return readRegularFile(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw new Error(`failed to read the kubeconfig: ${error instanceof Error ? error.message : error}`)
  }
}
