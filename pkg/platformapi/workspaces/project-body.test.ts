import { expect } from 'chai'
import { Status } from '../../apierrors/status.ts'
import { toProject } from './project-body.ts'
import { parseNamespace } from './write-namespace.ts'

const of = { groupDomain: 'kapis.io', workspace: 'blue', ownNamespace: 'kapis-system', creator: 'jane' }

function project(body: unknown) {
  return toProject(parseNamespace(body), of)
}

const labels = { 'kapis.io/workspace': 'blue' }

describe('toProject', () => {
  const accepted: readonly (readonly [title: string, sent: object, metadata: object, isReplaced?: true])[] = [
    ['a name', { name: 'b1' }, { name: 'b1', labels, annotations: { 'kapis.io/creator': 'jane' } }],
    [
      'the body of the console',
      {
        name: 'b1',
        labels,
        annotations: {
          'kapis.io/alias-name': 'B "one"',
          'kapis.io/description': 'of ours',
          'kapis.io/creator': 'jane',
        },
      },
      {
        name: 'b1',
        labels,
        annotations: {
          'kapis.io/alias-name': 'B "one"',
          'kapis.io/description': 'of ours',
          'kapis.io/creator': 'jane',
        },
      },
    ],
    [
      'generateName',
      { generateName: 'kube' },
      { generateName: 'kube', labels, annotations: { 'kapis.io/creator': 'jane' } },
    ],
    [
      'another creator',
      { name: 'b1', annotations: { 'kapis.io/creator': 'root', 'kapis.io/description': null } },
      { name: 'b1', labels, annotations: { 'kapis.io/creator': 'jane' } },
      true,
    ],
    [
      'the empty fields of client-go',
      {
        name: 'b1',
        labels: { 'kubernetes.io/metadata.name': 'b1' },
        creationTimestamp: null,
        finalizers: [],
        ownerReferences: [],
      },
      { name: 'b1', labels, annotations: { 'kapis.io/creator': 'jane' } },
    ],
  ]
  for (const [title, sent, metadata, isReplaced = false] of accepted)
    it(`accepts ${title}`, () =>
      expect(project({ kind: 'Namespace', metadata: sent, spec: {}, status: {} })).to.deep.equal({
        isCreatorReplaced: isReplaced,
        body: { apiVersion: 'v1', kind: 'Namespace', metadata },
      }))

  it('leaves a missing name to kube-apiserver', () =>
    expect(project({}).body).to.deep.equal({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { labels, annotations: { 'kapis.io/creator': 'jane' } },
    }))

  const withName = (metadata: object) => ({ metadata: { name: 'b1', ...metadata } })
  const withKeys = (member: 'labels' | 'annotations', keys: readonly string[]) =>
    keys.map(
      key =>
        [
          withName({ [member]: JSON.parse(`{${JSON.stringify(key)}: "x"}`) }),
          `metadata.${member}[${key}]`,
        ] as const,
    )
  const other = 'Forbidden: requires permission to create namespaces'
  const rejected: readonly (readonly [sent: object, field: string])[] = [
    ...withKeys('labels', [
      'pod-security.kubernetes.io/enforce',
      'pod-security.kubernetes.io/enforce-version',
      'kapis.io/namespace',
      'kubesphere.io/workspace',
      'istio-injection',
      'name',
      '__proto__',
      '',
    ]),
    [withName({ labels: { a: null } }), 'metadata.labels[a]'],
    [withName({ labels: { 'kapis.io/workspace': 'red' } }), 'metadata.labels[kapis.io/workspace]'],
    [withName({ labels: { 'kapis.io/workspace': ['blue'] } }), 'metadata.labels[kapis.io/workspace]'],
    [
      withName({ labels: { 'kubernetes.io/metadata.name': 'kube-system' } }),
      'metadata.labels[kubernetes.io/metadata.name]',
    ],
    ...withKeys('annotations', [
      'scheduler.alpha.kubernetes.io/node-selector',
      'scheduler.alpha.kubernetes.io/defaultTolerations',
      'openshift.io/sa.scc.uid-range',
      'kubectl.kubernetes.io/last-applied-configuration',
      'kubesphere.io/creator',
      'kapis.io/creator ',
      '__proto__',
    ]),
    [withName({ finalizers: ['a/b'] }), 'metadata.finalizers'],
    [withName({ ownerReferences: [{}] }), 'metadata.ownerReferences'],
    [withName({ uid: 'u' }), 'metadata.uid'],
    [withName({ namespace: 'kube-system' }), 'metadata.namespace'],
    [withName({ Name: 'kube-system' }), 'metadata.Name'],
    [withName({ managedFields: [{}] }), 'metadata.managedFields'],
    [withName({ deletionGracePeriodSeconds: 0 }), 'metadata.deletionGracePeriodSeconds'],
    [withName(JSON.parse('{"__proto__": {"labels": {"a": "b"}}}')), 'metadata.__proto__'],
    [{ ...withName({}), spec: { finalizers: ['kubernetes'] } }, 'spec'],
    [{ ...withName({}), status: { phase: 'Active' } }, 'status'],
    [{ ...withName({}), cluster: 'host' }, 'cluster'],
    [{ ...withName({}), Metadata: { name: 'x' } }, 'Metadata'],
  ]
  for (const [sent, field] of rejected)
    it(`rejects ${JSON.stringify(sent)}`, () => {
      const error = problem(sent)
      expect(error.message).to.equal(`Namespace "b1" is invalid: ${field}: ${other}`)
      expect(error.code).to.equal(422)
      expect(error.details).to.deep.equal({
        name: 'b1',
        kind: 'Namespace',
        causes: [{ reason: 'FieldValueForbidden', message: other, field }],
      })
    })

  for (const name of [
    'default',
    'kube-x',
    'kube-',
    'openshift',
    'openshift-x',
    'kubesphere-x',
    'kapis-system',
  ])
    it(`rejects the name ${name}`, () => {
      expect(problem({ metadata: { name } }).message).to.equal(
        `Namespace "${name}" is invalid: metadata.name: Forbidden: "${name}" is reserved`,
      )
    })
  for (const name of ['defaults', 'kubed', 'openshifts', 'my-kube-x', 'kapis-systems'])
    it(`accepts the name ${name}`, () => {
      expect(project({ metadata: { name } }).body).to.have.nested.property('metadata.name', name)
    })
  for (const generateName of ['kube-', 'kube-system', 'openshift-', 'kubesphere-x'])
    it(`rejects the prefix ${generateName}`, () => {
      expect(problem({ metadata: { generateName } }).message).to.equal(
        `Namespace "" is invalid: metadata.generateName: Forbidden: "${generateName}" is reserved`,
      )
    })

  it('names every field that it rejects', () => {
    const { message } = problem({
      metadata: { name: 'kube-x', labels: { a: 'b' }, uid: 'u' },
      spec: { a: 1 },
    })
    expect(message).to.equal(
      `Namespace "kube-x" is invalid: [metadata.name: Forbidden: "kube-x" is reserved, spec: ${other}, metadata.uid: ${other}, metadata.labels[a]: ${other}]`,
    )
  })

  const mistyped: readonly (readonly [metadata: unknown, message: string])[] = [
    [{ name: 5 }, 'metadata.name must be a string'],
    [{ name: ['kube-system'] }, 'metadata.name must be a string'],
    [{ generateName: {} }, 'metadata.generateName must be a string'],
    [{ labels: [] }, 'metadata.labels must be an object'],
    [{ annotations: 'x' }, 'metadata.annotations must be an object'],
    [
      { annotations: { 'kapis.io/alias-name': 5 } },
      'metadata.annotations[kapis.io/alias-name] must be a string',
    ],
    ['x', 'metadata must be an object'],
  ]
  for (const [metadata, message] of mistyped)
    it(`rejects the metadata ${JSON.stringify(metadata)}`, () =>
      expect(problem({ metadata })).to.include({ code: 400, message }))

  function problem(body: unknown): Status {
    try {
      project(body)
    } catch (error) {
      if (error instanceof Status) return error
      throw error
    }
    throw new Error('accepted')
  }
})
