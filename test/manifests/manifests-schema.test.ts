import { join } from 'node:path'
import { expect } from 'chai'
import { parseAllDocuments } from 'yaml'
import { repository } from '../../hack/controlplane/settings.ts'
import { isRecord } from '../../pkg/kubeclient/object/object.ts'
import { output } from '../e2e/run.ts'
import { loadSchemas } from '../installation/schemas.ts'

/** The last patch release of every supported Kubernetes version. */
const versions = ['v1.30.14', 'v1.31.14', 'v1.32.13', 'v1.33.13', 'v1.34.4', 'v1.35.4', 'v1.36.3', 'v1.37.2']
const overlays = ['default', 'ha', 'kubesphere', 'monitoring', 'opensearch']
/**
 * Custom resources, whose schemas are not part of Kubernetes; manifests.test.ts applies them with
 * their CRDs.
 */
const others = ['ServiceMonitor', 'PrometheusRule']

type Manifest = Readonly<Record<string, unknown>>

describe('the OpenAPI document of each Kubernetes', function () {
  // A long timeout, since the source of each version is downloaded once.
  this.timeout(600_000)
  const manifests = new Map<string, readonly Manifest[]>()

  before(async () => {
    for (const overlay of overlays) {
      const text = await output('kubectl', ['kustomize', join(repository, 'manifests/overlays', overlay)])
      manifests.set(
        overlay,
        parseAllDocuments(text)
          .map(document => document.toJS())
          .filter(isRecord),
      )
    }
  })

  for (const version of versions) {
    it(`${version} accepts every object of every overlay`, async () => {
      const { problems } = await loadSchemas(version)
      for (const [overlay, objects] of manifests) {
        expect(objects.length, overlay).to.be.above(15)
        const found = objects
          .filter(({ kind }) => !others.includes(String(kind)))
          .flatMap(object => problems(object) ?? [`${object.apiVersion} ${object.kind}: unknown`])
        expect(found, overlay).to.deep.equal([])
      }
    })
  }

  it('detects mistakes', async () => {
    const { problems } = await loadSchemas('v1.37.2')
    const bad = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'x', label: {} },
      spec: {
        replicas: '2',
        template: { spec: { containers: [{ image: 'x', ports: [{ containerPort: 'a' }] }] } },
      },
    }
    expect(problems(bad)).to.have.members([
      'Deployment.metadata.label: unknown',
      'Deployment.spec.selector: missing',
      'Deployment.spec.replicas: no whole number',
      'Deployment.spec.template.spec.containers[0].name: missing',
      'Deployment.spec.template.spec.containers[0].ports[0].containerPort: no whole number',
    ])
    expect(problems({ apiVersion: 'policy/v1beta1', kind: 'PodDisruptionBudget' })).to.equal(undefined)
  })
})
