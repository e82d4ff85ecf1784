import type { Handler } from '../../../apirequest/request-context.ts'
import type { RbacIndex } from '../../../authz/rbac/rbac-index.ts'
import { createRuleResolution } from '../../../authz/review/rule-completeness.ts'
import { reviewAccess } from '../../../authz/subject-access-review.ts'
import type { Config } from '../../../config/config.ts'
import { type AccessOptions, serveAccess } from '../../../extensionapi/access/serve-access.ts'
import type { KubeClient } from '../../../kubeclient/client.ts'
import { resourcesGroup, resourcesVersion } from '../../../resourcecache/kinds.ts'
import type { Auth } from '../auth/auth.ts'

/** Wires the access reviews with the RBAC index from which they are computed. */
export function createAccessReviews(parts: {
  readonly client: KubeClient
  readonly config: Config
  readonly access: Pick<Auth, 'authorize' | 'users'>
  readonly bindings: Pick<RbacIndex, 'reader'>
}): Handler {
  const { client, config, access, bindings } = parts
  const options: AccessOptions = {
    group: resourcesGroup(config.groupDomain),
    version: resourcesVersion,
    reader: bindings.reader(),
    authorize: access.authorize,
    resolution: createRuleResolution(client),
    review: (identity, attributes) => reviewAccess(client, attributes, identity),
    userGroup: `iam.${config.groupDomain}`,
    groupsOfUser: name => access.users.get(name)?.groups,
  }
  return exchange => serveAccess(options, exchange)
}
