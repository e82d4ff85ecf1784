import { expect } from 'chai'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import {
  apiServiceName,
  describeService,
  driftOf,
  isOurs,
  type Registration,
  toApiService,
} from './api-service.ts'

const service = { namespace: 'kapis-system', name: 'kapis', port: 443 }
const registration: Registration = { groupDomain: 'example.io', service, caBundle: 'PEM' }
const labels = { 'app.kubernetes.io/managed-by': 'kapis', 'app.kubernetes.io/instance': 'kapis-system' }
const spec = {
  group: 'resources.example.io',
  version: 'v1alpha3',
  groupPriorityMinimum: 1000,
  versionPriority: 100,
  service,
  caBundle: 'UEVN',
}

function existing(changes: { spec?: object; labels?: Record<string, string> } = {}): KubeObject {
  const metadata = {
    name: 'v1alpha3.resources.example.io',
    uid: 'u',
    resourceVersion: '7',
    creationTimestamp: '',
  }
  return { metadata: { ...metadata, labels: changes.labels ?? labels }, spec: { ...spec, ...changes.spec } }
}

describe('toApiService', () => {
  it('is named by version and group', () => {
    expect(apiServiceName('example.io')).to.equal('v1alpha3.resources.example.io')
    expect(toApiService(registration)).to.deep.equal({
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1alpha3.resources.example.io', labels },
      spec,
    })
  })

  it('preserves the metadata of other programs, and replaces the spec', () => {
    const current = existing({ labels: { theirs: 'yes' }, spec: { insecureSkipTLSVerify: true } })
    const { metadata, spec: written } = toApiService(registration, current)
    expect(metadata).to.deep.include({ uid: 'u', resourceVersion: '7', labels: { theirs: 'yes', ...labels } })
    expect(written).to.deep.equal(spec)
  })
})

describe('isOurs', () => {
  const cases: readonly [string, KubeObject, boolean][] = [
    ['made here', existing(), true],
    [
      'made here, then pointed elsewhere',
      existing({ spec: { service: { ...service, name: 'other' } } }),
      true,
    ],
    ['made by an installer for this Service', existing({ labels: {} }), true],
    [
      'of another Service',
      existing({ labels: {}, spec: { service: { ...service, namespace: 'other' } } }),
      false,
    ],
    [
      'of another installation',
      existing({
        labels: { ...labels, 'app.kubernetes.io/instance': 'other' },
        spec: { service: { ...service, namespace: 'other' } },
      }),
      false,
    ],
    ['local to kube-apiserver', existing({ labels: {}, spec: { service: undefined } }), false],
  ]
  for (const [what, current, expected] of cases) {
    it(`returns ${expected} for ${what}`, () => expect(isOurs(current, service)).to.equal(expected))
  }

  it('describes the target of an APIService', () => {
    expect(describeService(existing())).to.equal('the Service kapis-system/kapis')
    expect(describeService(existing({ spec: { service: undefined } }))).to.equal('kube-apiserver itself')
  })
})

describe('driftOf', () => {
  const cases: readonly [KubeObject, readonly string[]][] = [
    [existing(), []],
    [existing({ labels: { ...labels, theirs: 'yes' } }), []],
    [existing({ spec: { insecureSkipTLSVerify: false } }), []],
    [existing({ labels: {} }), Object.keys(labels).map(key => `metadata.labels.${key}`)],
    [existing({ spec: { caBundle: 'T0xE' } }), ['spec.caBundle']],
    [existing({ spec: { insecureSkipTLSVerify: true } }), ['spec.insecureSkipTLSVerify']],
    [
      existing({ spec: { service: { ...service, port: 1 }, versionPriority: 1 } }),
      ['spec.versionPriority', 'spec.service.port'],
    ],
    [
      existing({ spec: { service: undefined } }),
      ['namespace', 'name', 'port'].map(key => `spec.service.${key}`),
    ],
  ]
  for (const [current, expected] of cases) {
    it(`finds ${expected.join(', ') || 'nothing'} in ${JSON.stringify(current.metadata.labels)} ${JSON.stringify(current.spec)}`, () => {
      expect(driftOf(current, registration)).to.deep.equal(expected)
    })
  }
})
