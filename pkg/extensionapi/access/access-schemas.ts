import { array, boolean, object, ref, type Schemas, string } from '../openapi/schema/schema.ts'

const texts = (description: string) => array(description, { type: 'string' })

const attributes = {
  verb: string('Verb of the request, such as list; "*" for all.'),
  group: string('API group of the resource; empty for the core group.'),
  version: string('Version of the resource. RBAC rules do not contain versions.'),
  resource: string('Resource in the plural, such as pods.'),
  subresource: string('Subresource, such as log; empty for the resource itself.'),
  name: string('Name of one object; empty for all.'),
}
const subject = {
  user: string('User whose access is reviewed. Defaults to the caller if groups are empty too.'),
  groups: texts(
    'Groups of the user. Without them a service account has the groups of service accounts, and a user of Kapis those of the User.',
  ),
}
const resourceAttributes = ref('AccessResourceAttributes', 'The request, when it is for a resource.')
const nonResourceAttributes = ref('AccessNonResourceAttributes', 'The request, when it is for another path.')
const evaluated = {
  user: string('User whose access was reviewed.'),
  groups: texts('Groups whose access was reviewed.'),
}
const resolution = {
  incomplete: boolean(
    'Whether kube-apiserver has other authorizers than RBAC, whose rules cannot be listed.',
  ),
  evaluationError: string('Why the result may be incomplete.'),
}
const notes = texts('Other permissions that grant access, such as permission to impersonate.')

/** Schemas of the access review kinds, by short name. */
export const accessSchemas: Schemas = {
  WhoCan: object('WhoCan finds the subjects that may make a request, with the bindings that allow it.', {
    spec: ref('WhoCanSpec', 'The request.'),
    status: ref('WhoCanStatus', 'The subjects. Filled in by the server.'),
  }),
  WhoCanSpec: object('The request; exactly one of the two fields is set.', {
    resourceAttributes,
    nonResourceAttributes,
  }),
  WhoCanStatus: object('The subjects that may make the request.', {
    subjects: array(
      'The subjects. All members of a listed group may make the request.',
      ref('AccessSubject'),
    ),
    notes,
    ...resolution,
  }),
  AccessibleNamespaces: object(
    'AccessibleNamespaces finds the namespaces in which a user has a permission.',
    {
      spec: ref('AccessibleNamespacesSpec', 'The user and the permission.'),
      status: ref('AccessibleNamespacesStatus', 'The namespaces. Filled in by the server.'),
    },
  ),
  AccessibleNamespacesSpec: object('The user and the permission.', {
    ...subject,
    resourceAttributes: ref('AccessClusterAttributes', 'The request, in any namespace.'),
  }),
  AccessibleNamespacesStatus: object('The namespaces in which a user has a permission.', {
    ...evaluated,
    allNamespaces: boolean('Whether the permission applies in every namespace; then namespaces is empty.'),
    namespaces: texts('Names of the namespaces.'),
    ...resolution,
  }),
  SubjectAccessReport: object('SubjectAccessReport lists what a user may do, and by which bindings.', {
    spec: ref('SubjectAccessReportSpec', 'The user.'),
    status: ref('SubjectAccessReportStatus', 'The permissions of the user. Filled in by the server.'),
  }),
  SubjectAccessReportSpec: object('The user.', {
    ...subject,
    namespace: string('Namespace of the report; empty for all namespaces.'),
  }),
  SubjectAccessReportStatus: object('The permissions of a user.', {
    ...evaluated,
    cluster: array('Bindings that apply in the whole cluster.', ref('AccessBinding')),
    namespaces: array('Bindings that apply in one namespace, in addition.', ref('AccessNamespace')),
    roles: array('The roles of these bindings with their rules.', ref('AccessRole')),
    notes,
    ...resolution,
  }),
  ExplainAccess: object('ExplainAccess explains why a request is allowed or denied.', {
    spec: ref('ExplainAccessSpec', 'The user and the request.'),
    status: ref('ExplainAccessStatus', 'The reasons. Filled in by the server.'),
  }),
  ExplainAccessSpec: object('The user and the request; exactly one of the two kinds of attributes is set.', {
    ...subject,
    resourceAttributes,
    nonResourceAttributes,
  }),
  ExplainAccessStatus: object('Why a request is allowed or denied.', {
    ...evaluated,
    allowed: boolean('Whether kube-apiserver allows the request (SubjectAccessReview).'),
    reason: string('The reason that kube-apiserver returns.'),
    grants: array('The bindings and rules that allow it.', ref('AccessGrant')),
    nearest: array('Bindings of the user that are closest to allowing it.', ref('AccessNearMiss')),
    missingRule: ref('AccessPolicyRule', 'The smallest rule that would allow it.'),
    rolesThatAllow: array(
      'Roles that would allow it if they were bound, for callers who may read roles.',
      ref('AccessObjectReference'),
    ),
    ...resolution,
  }),
  AccessResourceAttributes: object(
    'A request for a resource, with the fields of a SubjectAccessReview.',
    {
      ...attributes,
      namespace: string('Namespace of the request; empty for the cluster scope and for all namespaces.'),
    },
    ['verb', 'resource'],
  ),
  AccessClusterAttributes: object('A request for a resource, in any namespace.', attributes, [
    'verb',
    'resource',
  ]),
  AccessNonResourceAttributes: object(
    'A request for a path that is not a resource.',
    { verb: string('HTTP method in lower case.'), path: string('Path of the URL.') },
    ['verb', 'path'],
  ),
  AccessSubject: object('A subject that may make the request.', {
    kind: string('User, Group or ServiceAccount.'),
    name: string('Name of the subject.'),
    namespace: string('Namespace of a service account.'),
    grants: array('What allows it.', ref('AccessGrant')),
  }),
  AccessGrant: object('A binding with its role and the rule that allows the request.', {
    binding: ref('AccessObjectReference', 'The binding.'),
    role: ref('AccessObjectReference', 'The role that is bound.'),
    rule: ref('AccessPolicyRule', 'The rule of the role.'),
  }),
  AccessNearMiss: object('A binding that does not allow the request, and why.', {
    binding: ref('AccessObjectReference', 'The binding.'),
    role: ref('AccessObjectReference', 'The role that is bound.'),
    rule: ref('AccessPolicyRule', 'The rule that is closest; omitted if the role does not exist.'),
    missing: texts('The reasons why the binding does not allow the request.'),
  }),
  AccessBinding: object('A binding and its role.', {
    binding: ref('AccessObjectReference', 'The binding.'),
    role: ref('AccessObjectReference', 'The role that is bound.'),
  }),
  AccessNamespace: object('The bindings in one namespace.', {
    namespace: string('Name of the namespace.'),
    bindings: array('The bindings.', ref('AccessBinding')),
  }),
  AccessRole: object('A role with its rules.', {
    role: ref('AccessObjectReference', 'The role.'),
    isMissing: boolean('Whether the role of the binding does not exist.'),
    rules: array('The rules.', ref('AccessPolicyRule')),
  }),
  AccessObjectReference: object('Names a binding or a role.', {
    kind: string('ClusterRoleBinding, RoleBinding, ClusterRole or Role.'),
    name: string('Name of the object.'),
    namespace: string('Namespace of a RoleBinding or Role.'),
  }),
  AccessPolicyRule: object('A rule of a role, as rbac.authorization.k8s.io/v1 PolicyRule.', {
    verbs: texts('Verbs; "*" means all.'),
    apiGroups: texts('API groups; "*" means all, "" the core group.'),
    resources: texts('Resources; "*" means all, "*/log" a subresource of all resources.'),
    resourceNames: texts('Names of the objects that the rule applies to; empty for all.'),
    nonResourceURLs: texts('Non-resource paths; a "*" at the end matches any suffix.'),
  }),
}
