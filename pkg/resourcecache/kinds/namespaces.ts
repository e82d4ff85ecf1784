import { fieldsOf, textOf } from '../../kubeclient/object/object.ts'
import { column, type KindOptions } from '../kind.ts'
import { exact } from '../list/filters.ts'

/** The columns of kube-apiserver, followed by the workspace. */
export const namespaces = (groupDomain: string): KindOptions => ({
  columns: [
    column('Name', 0, 'Name of the namespace, unique in the cluster.', 'name'),
    column('Status', 0, 'Active, or Terminating while it is being emptied.'),
    column('Age', 0, 'Time since the namespace was created.'),
    column('Workspace', 1, 'Workspace that the namespace belongs to.'),
  ],
  toFields({ metadata, status }) {
    const phase = textOf(fieldsOf(status).phase)
    const workspace = metadata.labels?.[`${groupDomain}/workspace`] ?? ''
    return {
      status: phase,
      cells: [metadata.name, phase, { since: metadata.creationTimestamp }, workspace || '<none>'],
      values: { phase, workspace },
    }
  },
  filters: { status: exact('phase'), workspace: exact('workspace') },
})
