/**
 * Names that the orchestrator keeps for itself, such as the group system:masters. A token that carried one would be a way
 * to become part of it, so none is issued and none is accepted.
 */
export function isReservedName(name: string): boolean {
  return name.startsWith('system:')
}
