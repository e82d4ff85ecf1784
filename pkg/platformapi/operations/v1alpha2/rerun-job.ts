import { badRequest, Status, toStatus } from '../../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../../apirequest/request-context.ts'
import { parseExactly } from '../../../json/parse-exactly.ts'
import { stringifyExactly } from '../../../json/stringify.ts'
import { fieldsOf, type KubeObject, parseObject, textOf } from '../../../kubeclient/object/object.ts'
import { isConflict, isTransient, retry } from '../../../kubeclient/retry.ts'
import type { CallAs } from '../../write/as-caller.ts'
import { isDryRun } from '../../write/dry-run.ts'

/** Labels that the job controller sets on the Pods of a single Job. */
const ownLabels = [
  'controller-uid',
  'job-name',
  'batch.kubernetes.io/controller-uid',
  'batch.kubernetes.io/job-name',
]

/**
 * Runs a Job again: deletes it and creates it again, as the caller. A dry run with another name
 * comes first, so that a Job that cannot be created is not deleted. With `dryRun=All` nothing is
 * deleted or created.
 *
 * @throws Status 400, 409 for another resourceVersion, and those of kube-apiserver; if the creation
 * fails after the deletion, `details.causes` contains the Job as JSON
 */
export async function rerunJob(
  callAs: CallAs,
  exchange: AuthenticatedExchange,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<void> {
  const isTried = isDryRun(exchange)
  const resourceVersion = exchange.query.get('resourceVersion') ?? ''
  if (resourceVersion === '') throw badRequest('resourceVersion of the Job is required')
  const jobs = `/apis/batch/v1/namespaces/${encodeURIComponent(namespace)}/jobs`
  const path = `${jobs}/${encodeURIComponent(name)}`
  const read = async () => parseObject(parseExactly((await callAs(exchange, { path })).text))
  const job = await read()
  if (job.metadata.resourceVersion !== resourceVersion) throw jobChanged(name)
  const again = withoutRun(job)
  const tried = { ...again, metadata: { ...again.metadata, name: undefined, generateName: 'rerun-' } }
  await callAs(exchange, { method: 'POST', path: `${jobs}?dryRun=All`, body: tried })
  const { uid } = job.metadata
  await callAs(exchange, {
    method: 'DELETE',
    path,
    body: {
      ...{ apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' },
      ...(isTried && { dryRun: ['All'] }),
      preconditions: { uid, resourceVersion },
    },
  })
  if (isTried) return

  const isCreated = async () => (await read()).metadata.uid !== uid
  async function create(): Promise<void> {
    try {
      await callAs(exchange, { method: 'POST', path: jobs, body: again })
    } catch (error) {
      // The Job may exist: the response to an earlier attempt was lost, or a controller created it.
      if (!isConflict(error) || !(await isCreated().catch(() => false))) throw error
    }
  }
  try {
    // A finalizer may delay the deletion of the old Job.
    await retry(create, {
      isRetriable: error => isConflict(error) || isTransient(error),
      attempts: 6,
      delayMs: failed => 200 * 2 ** (failed - 1),
    })
  } catch (error) {
    throw notCreated(toStatus(error), again)
  }
}

/** Returns an error that contains the Job, which is stored nowhere else after the deletion. */
function notCreated(failure: Status, job: object): Status {
  const { code, reason, message, details, headers } = failure
  const cause = { reason: 'Deleted', message: stringifyExactly(job), field: '' }
  const what = 'the Job was deleted, and not created again: details.causes contains the Job as JSON'
  return new Status(code, reason, `${message}: ${what}`, {
    details: { ...details, causes: [...(details?.causes ?? []), cause] },
    headers,
    cause: failure,
  })
}

/** Returns the Job as it was created, without fields that the job controller has added. */
function withoutRun({ apiVersion, kind, metadata, spec }: KubeObject) {
  const { name, namespace, labels, annotations, ownerReferences } = metadata
  const { selector, template, ...rest } = fieldsOf(spec)
  const { metadata: podMetadata, ...pod } = fieldsOf(template)
  const revisions = annotations?.revisions
  return {
    ...{ apiVersion, kind },
    metadata: {
      ...{ name, namespace, ownerReferences, labels: withoutOwn(fieldsOf(labels)) },
      annotations: {
        ...annotations,
        // Consoles of KubeSphere store earlier runs in this annotation.
        ...(revisions !== undefined && { revisions: revisions.replaceAll('running', 'unfinished') }),
      },
    },
    spec: {
      ...rest,
      ...(rest.manualSelector === true && { selector }),
      template: {
        ...pod,
        metadata: {
          ...fieldsOf(podMetadata),
          labels:
            rest.manualSelector === true
              ? fieldsOf(fieldsOf(podMetadata).labels)
              : withoutOwn(fieldsOf(fieldsOf(podMetadata).labels)),
        },
      },
    },
  }
}

function withoutOwn(labels: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(labels)
      .filter(([label]) => !ownLabels.includes(label))
      .map(([label, value]) => [label, textOf(value)]),
  )
}

/** Returns the 409 of kube-apiserver for a modified object. */
function jobChanged(name: string): Status {
  const why = 'the object has been modified; please apply your changes to the latest version and try again'
  const message = `Operation cannot be fulfilled on jobs.batch ${JSON.stringify(name)}: ${why}`
  return new Status(409, 'Conflict', message, { details: { name, group: 'batch', kind: 'jobs' } })
}
