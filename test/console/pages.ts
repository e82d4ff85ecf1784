const inProject = '/retail/clusters/default/projects/shop'
const inCluster = '/clusters/default'
const inWorkspace = '/workspaces/retail'

/** The pages of the project in project.yaml. */
export const project = inProject

/** Pages by path, each with a text that appears only if the data of Kapis has been loaded. */
export const pages: Readonly<Record<string, string>> = {
  '/access/accounts': 'admin@',
  '/access/accounts/admin': 'authenticated successfully',
  '/access/roles/platform-admin': 'platform-admin',
  [`${inCluster}/overview`]: 'Cluster',
  [`${inCluster}/nodes/worker-1`]: 'worker-1',
  [`${inCluster}/components`]: 'System Components',
  [`${inCluster}/base-info`]: 'Basic Information',
  [`${inWorkspace}/overview`]: 'Workspace',
  [`${inWorkspace}/members`]: 'Members',
  [`${inWorkspace}/base-info`]: 'Retail',
  [`${inProject}/overview`]: 'shop',
  [`${inProject}/deployments/web`]: 'Desired: 2',
  [`${inProject}/deployments/web/revision-control`]: 'web-',
  [`${inProject}/deployments/web/events`]: 'ScalingReplicaSet',
  [`${inProject}/services/web`]: '80',
  [`${inProject}/ingresses/web`]: 'shop.example.org',
  [`${inProject}/configmaps/settings`]: 'colour',
  [`${inProject}/secrets/keys`]: 'key',
  [`${inProject}/volumes/data`]: 'standard',
  [`${inProject}/base-info`]: 'Basic Information',
}

type List = readonly [object: string, ...columns: string[]]

const name = ['Name'] as const
const created = ['Creation Time'] as const
const both = [...name, ...created] as const

const workloads: Readonly<Record<string, List>> = {
  deployments: ['web', 'Name', 'Update Time'],
  statefulsets: ['db', ...both],
  daemonsets: ['agent', ...both],
  jobs: ['import', 'Name', 'Update Time'],
  cronjobs: ['nightly', ...both],
  pods: ['web-', 'Name', 'Update Time'],
  services: ['web', ...both],
  ingresses: ['web', ...both],
  configmaps: ['settings', ...both],
  secrets: ['keys', ...both],
  serviceaccounts: ['robot', ...both],
  volumes: ['data', ...both],
}

const below = (folder: string, lists: Readonly<Record<string, List>>) =>
  Object.fromEntries(Object.entries(lists).map(([list, of]) => [`${folder}/${list}`, of]))

/** Lists with the name of an object, and all columns by which the console can sort them. */
export const lists: Readonly<Record<string, List>> = {
  '/access/workspaces': ['retail', ...both],
  '/access/roles': ['platform-regular', ...created],
  ...below(inCluster, {
    ...workloads,
    jobs: ['import', 'Name', 'Last Run Time'],
    // The service accounts of controllers are on the first page in each order.
    serviceaccounts: ['controller', ...both],
    nodes: ['worker-1', ...name],
    projects: ['shop', ...name],
    customresources: ['iam.kubesphere.io', ...created],
    storageclasses: ['standard', ...name],
    'volumes/PV': ['pv-1', ...both],
    networkpolicies: ['deny', ...both],
    members: ['visitor', 'Username'],
    roles: ['cluster-viewer', ...created],
  }),
  ...below(inWorkspace, { projects: ['shop', ...both], roles: ['retail-viewer', ...created] }),
  ...below(inProject, { ...workloads, roles: ['operator', ...both], members: ['visitor', 'Name'] }),
}
