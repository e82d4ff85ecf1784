import { oauthPaths } from '../../../oauth/description/paths.ts'
import { type DescribedSection, divide, type Section } from '../../../openapi/document.ts'
import { type Paths, under } from '../../../openapi/operation.ts'
import { anyPaths } from '../../../platformapi/generic/description.ts'
import { groupPaths } from '../../../platformapi/iam/v1alpha2/groups/groups-description.ts'
import { rolePaths } from '../../../platformapi/iam/v1alpha2/roles/roles-description.ts'
import { iamPaths } from '../../../platformapi/iam/v1alpha2/users/description.ts'
import { loggingPaths } from '../../../platformapi/logging/v1alpha2/description.ts'
import { operationPaths } from '../../../platformapi/operations/v1alpha2/description.ts'
import { publicPaths } from '../../../platformapi/public/description.ts'
import { oldResourcePaths } from '../../../platformapi/resources/v1alpha2/description.ts'
import { resourcePaths } from '../../../platformapi/resources/v1alpha3/description.ts'
import { tenantPaths } from '../../../platformapi/tenant/v1alpha2/description.ts'
import { terminalPaths } from '../../../platformapi/terminal/v1alpha2/description.ts'
import { clusterPaths, templatePaths, workspacePaths } from '../../../platformapi/workspaces/description.ts'

/**
 * Returns the OpenAPI sections of all paths that Kapis itself serves under /kapis and /oauth, built
 * from the descriptions next to the routes.
 */
export function describeApi(groupDomain: string): readonly DescribedSection[] {
  const key = (name: string, version: string) => `kapis/${name}.${groupDomain}/${version}`
  const resources = key('resources', 'v1alpha3')
  const oldResources = key('resources', 'v1alpha2')
  const iam = key('iam', 'v1alpha2')
  const tenant = key('tenant', 'v1alpha2')
  const workspaces = key('tenant', 'v1alpha3')
  const logging = key('logging', 'v1alpha2')
  const terminal = key('terminal', 'v1alpha2')
  const operations = key('operations', 'v1alpha2')
  const sections: readonly Section[] = [
    {
      key: resources,
      title: 'Resources',
      description:
        'All resources of the cluster with paging, sorting, filters and watches; components; image registries.',
    },
    {
      key: oldResources,
      title: 'Resources (v1alpha2)',
      description: 'Components, quotas, abnormal workloads and kubeconfigs.',
    },
    { key: iam, title: 'Users', description: 'Users: accounts, passwords, states and logins.' },
    {
      key: tenant,
      title: 'Logs, workspaces',
      description: 'Log lines, events, workspaces and namespaces that the caller has access to.',
    },
    {
      key: workspaces,
      title: 'Workspaces',
      description: 'Workspaces that the caller has access to, and their WorkspaceTemplates.',
    },
    {
      key: logging,
      title: 'Logs of a container, and ingest',
      description: 'Ingestion of log lines from log shippers.',
    },
    { key: terminal, title: 'Terminals', description: 'Terminals in containers, for consoles.' },
    { key: operations, title: 'Operations', description: 'Runs Jobs again.' },
    {
      key: key('config', 'v1alpha2'),
      title: 'Configuration',
      description: 'Public documents for consoles and login pages.',
    },
    {
      key: 'kapis',
      title: 'Any resource',
      description:
        'All resources of kube-apiserver and of the platform components, under their own group and version.',
      also: ['/kapi'],
    },
    {
      key: 'oauth',
      title: 'Tokens and logins',
      description: 'The OAuth 2 and OpenID Connect server.',
      also: ['/.well-known'],
    },
  ]
  const paths: Paths = {
    ...under(`/${resources}`, resourcePaths),
    ...under(`/${oldResources}`, oldResourcePaths),
    ...under(`/${iam}`, iamPaths(groupDomain)),
    ...under(`/${iam}`, rolePaths),
    ...under(`/${iam}`, groupPaths),
    ...under(`/${tenant}`, tenantPaths),
    ...under(`/${tenant}`, workspacePaths),
    ...under(`/${tenant}`, clusterPaths),
    ...under(`/${workspaces}`, templatePaths),
    ...under(`/${logging}`, loggingPaths),
    ...under(`/${terminal}`, terminalPaths),
    ...under(`/${operations}`, operationPaths),
    ...publicPaths(groupDomain),
    ...anyPaths,
    ...oauthPaths(groupDomain),
  }
  return divide(sections, paths)
}
