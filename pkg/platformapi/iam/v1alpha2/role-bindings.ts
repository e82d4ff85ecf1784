import { isRecord, itemsOf, membersOf, textOf } from '../../../kubeclient/object.ts'
import type { Entry } from '../../../resourcecache/store/cached-object.ts'
import { type Preset, presetsOf, type RoleScope } from './role-presets.ts'

/** A place in which bindings are looked at. */
export type Place = { readonly scope: RoleScope; readonly namespace: string; readonly workspace: string }

/** A role that a user has by a binding. */
export type Held = {
  readonly user: string
  /** Under the name that consoles know. */
  readonly role: string
  readonly binding: Entry
}

/** What bindings made for a role of the whole platform say, so that they are not taken for those of cluster members. */
export function scopeLabel(groupDomain: string): string {
  return `iam.${groupDomain}/scope`
}

export type RoleRef = { readonly kind: string; readonly name: string }

export function roleRefOf(binding: Entry): RoleRef {
  const { kind, name } = membersOf(binding.parsed().roleRef)
  return { kind: textOf(kind), name: textOf(name) }
}

/** @param names how the role of a binding is called at a place; undefined for one that does not count there */
export function heldBy(
  bindings: Iterable<Entry>,
  names: (binding: Entry) => string | undefined,
  is: (subject: { readonly kind: string; readonly name: string }) => boolean,
): readonly Held[] {
  const found: Held[] = []
  for (const binding of bindings) {
    const subjects = itemsOf(binding.parsed().subjects).filter(isRecord)
    const meant = subjects.map(({ kind, name }) => ({ kind: textOf(kind), name: textOf(name) })).filter(is)
    if (meant.length === 0) continue
    const role = names(binding)
    if (role !== undefined) for (const { name } of meant) found.push({ user: name, role, binding })
  }
  return found
}

/** A person: what belongs to kube-apiserver is no member of anything. */
export function isMember({ kind, name }: { readonly kind: string; readonly name: string }): boolean {
  return kind === 'User' && name !== '' && !name.startsWith('system:')
}

/** The name that consoles know for the role of a binding: that of a preset, or its own. */
export function nameAt(place: Place, { kind, name }: RoleRef): string {
  if (kind !== 'ClusterRole') return name
  return presetFor(place, name)?.name ?? name
}

function presetFor({ scope, workspace }: Place, clusterRole: string): Preset | undefined {
  return presetsOf(scope, workspace).find(preset => preset.clusterRole === clusterRole)
}

/**
 * Who is a member of a workspace, by the role bindings in its namespaces: with a role of it, where one ClusterRole is given in each of
 * them, and else as a regular member.
 *
 * @param namespaces those of the workspace
 */
export function workspaceRolesOf(
  held: readonly Held[],
  workspace: string,
  namespaces: readonly string[],
): ReadonlyMap<string, { readonly role: string; readonly bindings: readonly Entry[] }> {
  const byUser = new Map<string, Held[]>()
  for (const each of held) byUser.set(each.user, [...(byUser.get(each.user) ?? []), each])
  const presets = presetsOf('workspace', workspace)
  return new Map(
    [...byUser].map(([user, all]) => {
      const isGiven = ({ clusterRole }: Preset) =>
        clusterRole === undefined ||
        namespaces.every(namespace =>
          all.some(({ binding }) => {
            const { kind, name } = roleRefOf(binding)
            return binding.namespace === namespace && kind === 'ClusterRole' && name === clusterRole
          }),
        )
      const role = presets.find(isGiven)?.name ?? `${workspace}-regular`
      return [user, { role, bindings: all.map(({ binding }) => binding) }]
    }),
  )
}
