import { expect } from 'chai'
import { binding, storeOf } from './fixtures.ts'
import { type AssignedRole, createBindingReader, workspaceRolesOf } from './role-bindings.ts'

describe('workspaceRolesOf', () => {
  const toBinding = createBindingReader()

  function held(role: string, namespace: string, recorded?: string): AssignedRole {
    const object = binding('b', `ClusterRole/${role}`, ['User/ann'], namespace === '' ? {} : { namespace })
    const [entry] = storeOf(namespace === '' ? 'clusterrolebindings' : 'rolebindings', [object]).entries()
    if (entry === undefined) throw new Error('no binding')
    return {
      user: 'ann',
      role,
      binding: toBinding(entry),
      ...(recorded === undefined ? {} : { recorded: { role: recorded } }),
    }
  }
  const cases: readonly (readonly [
    what: string,
    held: readonly AssignedRole[],
    namespaces: readonly string[],
    role: string,
  ])[] = [
    [
      'a preset role in each namespace',
      [held('view', 'b1'), held('view', 'b2')],
      ['b1', 'b2'],
      'blue-viewer',
    ],
    ['a preset role in one of two namespaces', [held('view', 'b1')], ['b1', 'b2'], 'blue-regular'],
    ['a recorded preset role without namespaces', [held('r', '', 'admin')], [], 'blue-admin'],
    ['a recorded role of the workspace without namespaces', [held('r', '', 'readers')], [], 'readers'],
    [
      'a recorded role of the workspace in each namespace',
      [held('r', '', 'readers'), held('readers', 'b1')],
      ['b1'],
      'readers',
    ],
    [
      'a recorded role of the creator of each namespace',
      [held('r', '', 'edit'), held('edit', 'b1'), held('admin', 'b1')],
      ['b1'],
      'blue-self-provisioner',
    ],
    [
      'the stronger of two recorded roles',
      [held('r', '', 'view'), held('r', '', 'edit'), held('edit', 'b1'), held('view', 'b1')],
      ['b1'],
      'blue-self-provisioner',
    ],
    [
      'another role than the recorded one',
      [held('r', '', 'view'), held('admin', 'b1')],
      ['b1'],
      'blue-admin',
    ],
    ['a recorded role that a namespace lacks', [held('r', '', 'readers')], ['b1'], 'blue-regular'],
    ['another role in each namespace', [held('other', 'b1')], ['b1'], 'blue-regular'],
  ]
  for (const [what, given, namespaces, role] of cases)
    it(`returns ${role} for ${what}`, () =>
      expect(workspaceRolesOf(given, 'blue', namespaces).get('ann')?.role).to.equal(role))
})
