import { badRequest, methodNotAllowed, notAcceptable, unknownResource } from '../../apierrors/status.ts'
import type { Identity } from '../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { toResourceInfo } from '../../apirequest/request-info.ts'
import type { Authorize } from '../../authz/authorizer.ts'
import type { RbacReader } from '../../authz/rbac/rbac-index.ts'
import { accessReport } from '../../authz/review/access-report.ts'
import { allowedNamespaces } from '../../authz/review/allowed-namespaces.ts'
import { isAllowed, mayReadRbac, requireRbacRead } from '../../authz/review/rbac-read-permission.ts'
import type { AccessAttributes } from '../../authz/review/rule.ts'
import type { RuleResolution } from '../../authz/review/rule-completeness.ts'
import { whoCan } from '../../authz/review/who-can.ts'
import { send } from '../../httpserver/response/respond.ts'
import { negotiate } from '../read/accept.ts'
import { contentType, reencode, toEncoding } from '../read/encoding.ts'
import { type AccessKind, accessKinds } from './access-kinds.ts'
import { explanationStatus, type ReviewAccess } from './explanation-status.ts'
import { readReview } from './read-review.ts'
import { parseReviewMetadata, parseReviewSpec, type ReviewSpec } from './review-spec.ts'
import { findSubject } from './subject.ts'

export type AccessOptions = {
  readonly group: string
  readonly version: string
  readonly reader: RbacReader
  readonly authorize: Authorize
  readonly resolution: () => Promise<RuleResolution>
  /** Returns the decision of kube-apiserver for a request of a user. */
  readonly review: ReviewAccess
  /** API group of the User resource. */
  readonly userGroup: string
  /** Returns the groups of a User; undefined if there is no User with this name. */
  readonly groupsOfUser: (name: string) => readonly string[] | undefined
}

/**
 * Serves the creation of a review: returns the object with its status and does not store it. The
 * permission to create reviews has been checked; results about others also require permission to
 * read RBAC.
 *
 * @throws Status 400, 403, 404, 405, 406, 413, 415, 422, 503
 */
export async function serveAccess(options: AccessOptions, exchange: AuthenticatedExchange): Promise<void> {
  const { req, res, info, query } = exchange
  const kind = accessKinds.find(({ plural }) => plural === info.resource)
  if (kind === undefined || info.isInNamespace || info.name !== '') throw unknownResource()
  if (info.verb !== 'create') throw methodNotAllowed(['POST'])
  const accepted = negotiate(req.headers.accept, 'object')
  if (accepted.as !== 'object') throw notAcceptable(['application/json', 'application/yaml'])
  const dryRun = query.get('dryRun')
  if (dryRun !== null && dryRun !== 'All') throw badRequest('invalid dryRun: expected All')
  const { group, version } = options
  const review = await readReview(req, { apiVersion: `${group}/${version}`, kind: kind.kind })
  const form = { kind: { group, kind: kind.kind }, fields: kind.spec, attributeFields: kind.attributeFields }
  const spec = parseReviewSpec(review, form)
  const metadata = parseReviewMetadata(review.metadata, form.kind)
  const status = await statusOf(options, kind, spec, exchange.identity)
  const response = {
    kind: kind.kind,
    apiVersion: review.apiVersion,
    metadata,
    spec: review.spec ?? {},
    status,
  }
  const encoding = toEncoding(accepted, req, query)
  send(res, 201, reencode(`${JSON.stringify(response)}\n`, encoding), {
    'content-type': contentType(encoding),
  })
}

async function statusOf(
  options: AccessOptions,
  kind: AccessKind,
  spec: ReviewSpec,
  caller: Identity,
): Promise<object> {
  const { reader, authorize, resolution } = options
  if (kind.plural === 'whocans') {
    const attributes = attributesOf(spec)
    // For cluster-wide permissions, only ClusterRoleBindings are relevant.
    const namespace = attributes.isResource ? attributes.namespace : ''
    const place = namespace === '' ? 'cluster' : { namespace }
    await requireRbacRead(authorize, caller, place)
    return { ...whoCan(reader, attributes), ...(await resolution()) }
  }
  const groupsOfUser = async (name: string) => {
    const permission = toResourceInfo({ verb: 'get', group: options.userGroup, resource: 'users', name })
    return (await isAllowed(authorize, permission, caller)) ? options.groupsOfUser(name) : undefined
  }
  const { identity, isSelf } = await findSubject({ groupsOfUser }, spec, caller)
  if (!isSelf) {
    const isOfNamespace = kind.plural === 'subjectaccessreports' && spec.namespace !== ''
    await requireRbacRead(authorize, caller, isOfNamespace ? { namespace: spec.namespace } : 'everywhere')
  }
  const evaluated = { user: identity.username, groups: identity.groups }
  if (kind.plural === 'accessiblenamespaces') {
    const { allNamespaces, namespaces } = allowedNamespaces(reader, identity, attributesOf(spec))
    const found = { allNamespaces, namespaces: allNamespaces ? [] : namespaces }
    return { ...evaluated, ...found, ...(await resolution()) }
  }
  if (kind.plural === 'subjectaccessreports')
    return { ...evaluated, ...accessReport(reader, identity, spec.namespace), ...(await resolution()) }
  const attributes = attributesOf(spec)
  const showsRoles = await mayReadRbac(authorize, caller, 'everywhere')
  const explained = await explanationStatus(options, { identity, attributes, showsRoles })
  return { ...evaluated, ...explained }
}

function attributesOf({ attributes }: ReviewSpec): AccessAttributes {
  if (attributes === undefined) throw new Error('the review has no attributes')
  return attributes
}
