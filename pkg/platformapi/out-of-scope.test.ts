import { expect } from 'chai'
import { describeOutOfScope, describeTenantOutOfScope } from './out-of-scope.ts'

describe('describeOutOfScope', () => {
  const cases = [
    ['monitoring.kapis.io', 'monitoring is not part of Kapis: use Prometheus'],
    ['openpitrix.io', 'the app store is not part of Kapis: use Helm'],
    ['monitoring.example.org', undefined],
    ['monitoring.coreos.com', undefined],
    ['iam.kapis.io', undefined],
    ['kapis.io', undefined],
    ['constructor.kapis.io', undefined],
    ['apps', undefined],
    ['', undefined],
  ] as const
  for (const [group, sentence] of cases) {
    it(`returns ${sentence === undefined ? 'nothing' : 'what to use instead'} for ${JSON.stringify(group)}`, () => {
      expect(describeOutOfScope(group, 'kapis.io')).to.equal(sentence)
    })
  }
})

describe('describeTenantOutOfScope', () => {
  const quotas = 'quotas of workspaces are not part of Kapis: use a ResourceQuota in each namespace'
  const cases = [
    ['workspaces/retail/resourcequotas', quotas],
    ['workspaces/retail/resourcequotas/retail', quotas],
    ['federatednamespaces', 'federated projects are not part of Kapis: create the namespace in each cluster'],
    [
      'workspaces/retail/workspacemembers/ann/devops',
      'DevOps is not part of Kapis: use Tekton, Jenkins or Argo CD',
    ],
    ['metering/price', 'metering is not part of Kapis: use Prometheus or OpenCost'],
    ['namespaces/shop/metering/hierarchy', 'metering is not part of Kapis: use Prometheus or OpenCost'],
    // Names of a workspace, a namespace and a member are not treated as resources.
    ['workspaces/devops', undefined],
    ['namespaces/devops', undefined],
    ['workspaces/metering/namespaces', undefined],
    ['workspaces/retail/workspacemembers/devops', undefined],
    ['constructor', undefined],
    ['', undefined],
  ] as const
  for (const [path, sentence] of cases) {
    it(`returns ${sentence === undefined ? 'nothing' : 'what to use instead'} for ${JSON.stringify(path)}`, () => {
      expect(describeTenantOutOfScope(path.split('/'))).to.equal(sentence)
    })
  }
})
