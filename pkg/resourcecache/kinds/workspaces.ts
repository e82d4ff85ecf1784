import { fieldsOf, textOf } from '../../kubeclient/object/object.ts'
import { column, type KindOptions } from '../kind.ts'
import { exact } from '../list/filters.ts'

/** A group of namespaces with a manager: `Workspace` of tenant.<group domain>/v1alpha1. */
export const workspaces: KindOptions = {
  columns: [
    column('Name', 0, 'Name of the workspace, unique in the cluster.', 'name'),
    column('Manager', 0, 'Manager of the workspace, who can always see it.'),
    column('Age', 0, 'Time since the workspace was created.'),
    column('Description', 1, 'Description of the workspace.'),
  ],
  toFields({ metadata, spec }) {
    const manager = textOf(fieldsOf(spec).manager)
    const description = textOf(fieldsOf(spec).description)
    return {
      status: '',
      cells: [
        metadata.name,
        manager || '<none>',
        { since: metadata.creationTimestamp },
        description || '<none>',
      ],
      values: { manager },
    }
  },
  filters: { manager: exact('manager') },
}
