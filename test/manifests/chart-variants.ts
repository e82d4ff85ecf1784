import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { manifestsFolder } from '../../cmd/kapis/manifests/build.ts'
import { type Names, platformNames } from '../../cmd/kapis/manifests/replace-names.ts'

/** The overlays that the chart can replace. */
const chartOverlays = ['default', 'ha', 'opensearch', 'kubesphere'] as const

/** The names that an overlay changes, as values of the chart. */
export const ownNames: Readonly<Partial<Record<(typeof chartOverlays)[number], Names>>> = {
  kubesphere: platformNames,
}

/**
 * Components that can be combined with any overlay, by chart value: folders of
 * manifests/components.
 */
const chartComponents = { monitoring: 'monitoring', certManager: 'cert-manager' } as const

type Component = keyof typeof chartComponents
const componentNames: readonly Component[] = ['monitoring', 'certManager']

type Variant = {
  readonly name: string
  readonly overlay: (typeof chartOverlays)[number]
  readonly components: readonly Component[]
}

const allChoices: readonly (readonly string[])[] = [
  [],
  ['monitoring'],
  ['certManager'],
  ['monitoring', 'certManager'],
]

/**
 * All overlays with all combinations of components. Components contain the namespace kapis-system,
 * so the KubeSphere overlay is combined with none.
 */
export const variants: readonly Variant[] = chartOverlays.flatMap(overlay =>
  (overlay in ownNames ? [[]] : allChoices).map(list => {
    const components = componentNames.filter(name => list.includes(name))
    return { name: [overlay, ...components].join('+'), overlay, components }
  }),
)

/** Returns the output of kustomize for a variant. @throws Error with the message of kubectl */
export function buildVariant({ overlay, components }: Variant, kubectl: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'kapis-chart-'))
  try {
    cpSync(manifestsFolder, join(folder, 'manifests'), { recursive: true })
    mkdirSync(join(folder, 'top'))
    const kustomization = {
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      resources: [`../manifests/overlays/${overlay}`],
      components: components.map(name => `../manifests/components/${chartComponents[name]}`),
    }
    writeFileSync(join(folder, 'top/kustomization.yaml'), JSON.stringify(kustomization))
    const built = spawnSync(kubectl, ['kustomize', join(folder, 'top')], { encoding: 'utf8' })
    if (built.error) throw new Error(`${kubectl} not found: it is needed to run kustomize`)
    if (built.status !== 0) throw new Error(built.stderr.trim())
    return built.stdout
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
