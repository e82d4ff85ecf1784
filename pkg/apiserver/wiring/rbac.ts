import type { ExplainDenial } from '../../authz/authorizer.ts'
import { createNarrowedLists, type NarrowedLists } from '../../authz/narrowing/narrowed-lists.ts'
import { createNarrowingRole, type NarrowingRole } from '../../authz/narrowing/narrowing-role.ts'
import { RbacIndex } from '../../authz/rbac/rbac-index.ts'
import { createForbiddenExplanation } from '../../authz/review/explain-forbidden.ts'
import { createRbacCheck, type RbacCheck } from '../../authz/review/rbac-check.ts'
import { createRuleResolution } from '../../authz/review/rule-completeness.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { resourcesGroup, toAggregatedKinds } from '../../resourcecache/kinds.ts'
import { createTaskQueue, type TaskQueue } from '../../scheduling/task-queue.ts'
import type { Logger } from '../../telemetry/logger.ts'

/** Everything that is computed from RBAC roles and bindings. */
export type Rbac = {
  readonly bindings: RbacIndex
  readonly explain: ExplainDenial
  readonly rbacCheck: RbacCheck
  readonly narrowed: NarrowedLists
  readonly narrowingRole: NarrowingRole
  /** Checks the permissions of watches after a change of roles or bindings. */
  readonly tasks: TaskQueue
}

/** Wires the index of roles and bindings. */
export function createRbac(parts: {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly logger: Logger
}): Rbac {
  const { client, groupDomain, logger } = parts
  const bindings = new RbacIndex({ client, logger })
  const reader = bindings.reader()
  const tasks = createTaskQueue(err => logger.error({ err }, 'failed to check the permissions of a watch'))
  const narrowingRole = createNarrowingRole({
    reader,
    group: resourcesGroup(groupDomain),
    kinds: toAggregatedKinds(groupDomain),
  })
  return {
    bindings,
    explain: createForbiddenExplanation(reader),
    rbacCheck: createRbacCheck(reader),
    narrowed: createNarrowedLists({
      ...{ client, reader, resolution: createRuleResolution(client), role: narrowingRole, tasks },
    }),
    narrowingRole,
    tasks,
  }
}
