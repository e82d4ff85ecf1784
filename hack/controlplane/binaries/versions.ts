import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The versions of the programs of a control plane, which the go.mod files pin. */
export type Versions = { readonly kubernetes: string; readonly etcd: string; readonly kwok: string }

export function loadVersions(): Versions {
  const of = (folder: string, module: string) => {
    const text = readFileSync(join(import.meta.dirname, '..', folder, 'go.mod'), 'utf8')
    const version = new RegExp(`^\\s*(?:require )?${module.replaceAll('.', '\\.')} v(\\S+)`, 'm').exec(
      text,
    )?.[1]
    if (version === undefined) throw new Error(`${folder}/go.mod does not require ${module}`)
    return version
  }
  return {
    kubernetes: of('.', 'k8s.io/kubernetes'),
    etcd: of('.', 'go.etcd.io/etcd/server/v3'),
    kwok: of('kwok', 'sigs.k8s.io/kwok'),
  }
}

/** Returns the cache folder of a set of programs, by version and platform in the names of Go. */
export function cacheKey({ kubernetes, etcd, kwok }: Versions): string {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  return `kubernetes-${kubernetes}_etcd-${etcd}_kwok-${kwok}_${process.platform}-${arch}`
}
