import { createSharedResult } from '../../cache/shared-result.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { fieldsOf, textOf } from '../../kubeclient/object/object.ts'

/** Whether kube-apiserver reports authorizers other than RBAC, so that the rules are incomplete. */
export type RuleResolution = { readonly incomplete: boolean; readonly evaluationError?: string }

const cacheMs = 60_000
const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews'

/**
 * Detects authorizers of kube-apiserver whose rules cannot be listed (webhooks). The
 * SelfSubjectRulesReview of any caller reports them, so Kapis requests its own. The result is
 * cached for a minute.
 */
export function createRuleResolution(client: KubeClient): () => Promise<RuleResolution> {
  const shared = createSharedResult(() => resolve(client), { keepMs: cacheMs, failedForMs: 0 })
  return () => shared().catch(() => undetermined)
}

const undetermined: RuleResolution = {
  incomplete: true,
  evaluationError: 'the authorizers of kube-apiserver could not be determined',
}

async function resolve(client: KubeClient): Promise<RuleResolution> {
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectRulesReview',
    spec: { namespace: 'default' },
  }
  const status = fieldsOf(fieldsOf(await client.call({ method: 'POST', path, body })).status)
  if (status.incomplete !== true) return { incomplete: false }
  const evaluationError = textOf(status.evaluationError)
  return { incomplete: true, evaluationError: evaluationError || 'not all authorizers list their rules' }
}
