/** Replacements for APIs of KubeSphere 3.4 that Kapis does not have, by group. */
const instead: Readonly<Record<string, string>> = {
  monitoring: 'monitoring is not part of Kapis: use Prometheus',
  metering: 'metering is not part of Kapis: use Prometheus or OpenCost',
  alerting: 'alerting is not part of Kapis: use PrometheusRules and Alertmanager',
  notification: 'notifications are not part of Kapis: use Alertmanager',
  devops: 'DevOps is not part of Kapis: use Tekton, Jenkins or Argo CD',
  gitops: 'GitOps is not part of Kapis: use Argo CD or Flux',
  openpitrix: 'the app store is not part of Kapis: use Helm',
  application: 'the app store is not part of Kapis: use Helm',
  servicemesh: 'the service mesh is not part of Kapis: use the API and the console of the mesh',
  network: 'network topology is not part of Kapis: use NetworkPolicies of networking.k8s.io/v1',
  gateway: 'gateways are not part of Kapis: use the Gateway API or an Ingress controller',
  cluster: 'member clusters are not enabled: set multicluster.enabled, and apply the manifests',
}

/**
 * Returns what to use in place of a group that Kapis does not serve; undefined for any other group.
 * A component or a CustomResourceDefinition may still serve the group.
 */
export function describeOutOfScope(group: string, groupDomain: string): string | undefined {
  const name = group === 'openpitrix.io' ? 'openpitrix' : group.slice(0, -groupDomain.length - 1)
  const isOfPlatform = group === 'openpitrix.io' || group === `${name}.${groupDomain}`
  return isOfPlatform && Object.hasOwn(instead, name) ? instead[name] : undefined
}

/** Replacements for resources of `tenant.<group domain>/v1alpha2`. */
const tenantInstead: Readonly<Record<string, string>> = {
  resourcequotas: 'quotas of workspaces are not part of Kapis: use a ResourceQuota in each namespace',
  federatednamespaces: 'federated projects are not part of Kapis: create the namespace in each cluster',
  devops: 'DevOps is not part of Kapis: use Tekton, Jenkins or Argo CD',
  metering: 'metering is not part of Kapis: use Prometheus or OpenCost',
}

/**
 * Returns what to use in place of a path of the tenant API that Kapis does not serve; undefined for
 * any other path.
 *
 * @param parts path segments below `/kapis/tenant.<group domain>/v1alpha2`
 */
export function describeTenantOutOfScope(parts: readonly string[]): string | undefined {
  const [resource = '', , inside = resource, , ofMember = inside] = parts
  const isWithin = resource === 'workspaces' || resource === 'namespaces'
  const name = !isWithin ? resource : inside === 'workspacemembers' ? ofMember : inside
  return Object.hasOwn(tenantInstead, name) ? tenantInstead[name] : undefined
}
