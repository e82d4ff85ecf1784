import { parse } from 'yaml'
import { baseNames } from '../../cmd/kapis/manifests/customize.ts'
import { type Block, mergeTexts } from './merge.ts'
import { chartOverlays, componentNames, ownNames, type Variant, variants } from './variants.ts'

type Header = { readonly kind: string; readonly metadata: { readonly name: string } }

/**
 * The templates of the chart, by file name, each with all objects of a kind.
 *
 * @param texts what kustomize made of each variant, by the variant's name
 * @throws Error when a difference is none that the chart's values tell apart
 */
export function createTemplates(texts: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const objects = new Map<string, Map<string, string>>()
  for (const [variant, given] of texts) {
    const text = withBaseNames(given, variant)
    for (const document of text.split(/^---$/m)) {
      const templated = toTemplate(document.trim())
      const { kind, metadata }: Header = parse(document)
      // Helm makes the namespace itself (--create-namespace), and leaves it when the release goes.
      if (kind === 'Namespace') continue
      const key = `${toFileName(kind)} ${metadata.name.replace(/^(kapis-config)-\w+$/, '$1')}`
      const found = objects.get(key) ?? new Map<string, string>()
      objects.set(key, found.set(variant, kind === 'CustomResourceDefinition' ? kept(templated) : templated))
    }
  }
  const files = new Map<string, string>()
  for (const [key, found] of objects) {
    const [file = ''] = key.split(' ')
    files.set(file, `${files.get(file) ?? notice}${toText(mergeTexts(found), new Set(found.keys()))}`)
  }
  return files
}

const notice = '{{- /* Made by `make update` from manifests/. */}}\n'

function toFileName(kind: string): string {
  return `${kind.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.yaml`
}

/** The text with the chart's values in the places of the names that differ between installations. */
function toTemplate(text: string): string {
  const escaped = text.replaceAll(/\{\{|\}\}/g, braces => `{{ "${braces}" }}`)
  return (
    escaped
      .replaceAll(/image: kapis:\S+/g, 'image: {{ include "kapis.image" . | quote }}')
      .replaceAll(/^( +replicas:) \d+$/gm, '$1 {{ include "kapis.replicas" . }}')
      .replaceAll(/\bkapis-config-[a-z0-9]{10}\b/g, 'kapis-config-{{ include "kapis.configHash" . }}')
      // Comments and all: what the file says is in _config.tpl.
      .replaceAll(
        /^ {2}kapis\.yaml: \|\n(?: {4}.*\n|\n)+/gm,
        '  kapis.yaml: |\n    {{- include "kapis.config" . | nindent 4 }}\n',
      )
      // As a value of its own it is quoted: a namespace may be called 1.
      .replaceAll(new RegExp(`: ${baseNames.namespace}$`, 'gm'), ': {{ .Release.Namespace | quote }}')
      .replaceAll(whole(baseNames.namespace), '{{ .Release.Namespace }}')
      .replaceAll(whole(baseNames.groupDomain), '{{ .Values.groupDomain }}')
  )
}

/** The names of the base in the places of those that the overlay has of its own: only so it is the same object. */
function withBaseNames(text: string, variant: string): string {
  const overlay = variants.find(({ name }) => name === variant)?.overlay
  const own = overlay && ownNames[overlay]
  if (own === undefined) return text
  return text
    .replaceAll(whole(own.groupDomain), baseNames.groupDomain)
    .replaceAll(whole(own.namespace), baseNames.namespace)
}

function whole(name: string): RegExp {
  return new RegExp(String.raw`(?<![\w-])${name.replaceAll('.', String.raw`\.`)}(?![\w-])`, 'g')
}

/** The configuration of the programs as a named template, from the ConfigMaps of all variants. */
export function createConfigTemplate(texts: ReadonlyMap<string, string>): string {
  const contents = [...texts].map(([variant, text]) => {
    const lines = /^ {2}kapis\.yaml: \|\n((?: {4}.*\n|\n)+)/m.exec(withBaseNames(text, variant))?.[1] ?? ''
    const content = lines.replaceAll(/^ {4}/gm, '')
    if (content === '') throw new Error(`there is no configuration in ${variant}`)
    return [variant, toTemplate(content).trim()] as const
  })
  const every = new Set(texts.keys())
  const merged = mergeTexts(new Map(contents)).map(({ lines, variants: some }) =>
    conditional(lines.join('\n'), some, every),
  )
  return `${notice}{{- define "kapis.baseConfig" -}}\n${merged.join('\n')}\n{{- end }}\n`
}

/** With its definition every user and login would go, and a release is uninstalled more lightly than a platform. */
function kept(definition: string): string {
  if (/^ {2}annotations:/m.test(definition)) throw new Error('a definition has annotations of its own by now')
  const annotation = [
    '{{- if .Values.keepCustomResources }}',
    '  annotations:',
    '    helm.sh/resource-policy: keep',
    '{{- end }}',
  ]
  return definition.replace(/^metadata:$/m, ['metadata:', ...annotation].join('\n'))
}

function toText(blocks: readonly Block[], all: ReadonlySet<string>): string {
  const inner = blocks.map(block => conditional(block.lines.join('\n'), block.variants, all)).join('\n')
  const every = new Set(variants.map(({ name }) => name))
  return `${conditional(`---\n${inner}`, all, every)}\n`
}

function conditional(text: string, wanted: ReadonlySet<string>, within: ReadonlySet<string>): string {
  const condition = toCondition(
    variants.filter(({ name }) => wanted.has(name)),
    variants.filter(({ name }) => within.has(name)),
  )
  return condition === undefined ? text : `{{- if ${condition} }}\n${text}\n{{- end }}`
}

/** What of the values tells `wanted` from the others of `within`; undefined when there are no others. */
function toCondition(wanted: readonly Variant[], within: readonly Variant[]): string | undefined {
  if (wanted.length === within.length) return undefined
  const byTerms = new Map<string, string[]>()
  for (const overlay of chartOverlays) {
    const [some, all] = [wanted, within].map(list => list.filter(variant => variant.overlay === overlay))
    if (some === undefined || all === undefined || some.length === 0) continue
    const terms = componentTerms(some, all).join(' ')
    byTerms.set(terms, [...(byTerms.get(terms) ?? []), `"${overlay}"`])
  }
  const overlays = new Set(within.map(({ overlay }) => overlay))
  const choices = [...byTerms].map(([terms, names]) => {
    if (names.length === overlays.size) return terms
    const chosen =
      names.length === 1 ? `eq .Values.overlay ${names[0]}` : `has .Values.overlay (list ${names.join(' ')})`
    return terms === '' ? chosen : `and (${chosen}) ${terms}`
  })
  return choices.length === 1
    ? bare(choices[0] ?? '')
    : `or ${choices.map(choice => `(${choice})`).join(' ')}`
}

/** Of one overlay: which components must be on or off, for `wanted` and no other of `within`. */
function componentTerms(wanted: readonly Variant[], within: readonly Variant[]): readonly string[] {
  const terms: string[] = []
  let chosen = within
  for (const name of componentNames) {
    const has = (variant: Variant) => variant.components.includes(name)
    if (chosen.every(has) || !chosen.some(has)) continue
    if (wanted.every(has)) {
      terms.push(`.Values.${name}.enabled`)
      chosen = chosen.filter(has)
    } else if (!wanted.some(has)) {
      terms.push(`(not .Values.${name}.enabled)`)
      chosen = chosen.filter(variant => !has(variant))
    }
  }
  if (chosen.length !== wanted.length)
    throw new Error(`no values of the chart tell ${wanted.map(({ name }) => name).join(', ')} from others`)
  return terms
}

function bare(term: string): string {
  return term.replace(/^\(([^()]*)\)$/, '$1')
}
