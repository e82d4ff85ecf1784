import { join } from 'node:path'
import type { Settings } from '../settings.ts'
import { stages } from './kwok-stages.ts'

/**
 * Returns how often nodes report their status: often for few nodes, every five minutes for 5,000,
 * like an idle kubelet. Leases are renewed four times per duration.
 */
function pace(nodes: number) {
  return { heartbeatMs: Math.max(20_000, nodes * 60), leaseSeconds: Math.max(40, Math.ceil(nodes / 5)) }
}

/** Returns the configuration of kwok, which simulates kubelets, as YAML documents. */
export function kwokConfig(settings: Settings, port: number): string {
  const { heartbeatMs, leaseSeconds } = pace(settings.nodes)
  const documents = [
    {
      kind: 'KwokConfiguration',
      apiVersion: 'config.kwok.x-k8s.io/v1alpha1',
      options: {
        manageAllNodes: true,
        // Required by exec, logs, attach and port-forward.
        enableDebuggingHandlers: true,
        nodeLeaseDurationSeconds: leaseSeconds,
        nodeLeaseParallelism: 16,
        nodePlayStageParallelism: 16,
        podPlayStageParallelism: 16,
      },
    },
    ...stages(heartbeatMs).map(({ name, kind, when, spec }) =>
      kwokObject('Stage', name, {
        resourceRef: { apiGroup: 'v1', kind },
        selector: { matchExpressions: when.map(([key, operator, ...values]) => ({ key, operator, values })) },
        ...spec,
      }),
    ),
    kwokObject('ClusterExec', 'sample', { execs: [{ local: { workDir: '/tmp' } }] }),
    kwokObject('ClusterLogs', 'sample', { logs: [{ logsFile: sampleLog(settings) }] }),
    kwokObject('ClusterAttach', 'sample', { attaches: [{ logsFile: sampleLog(settings) }] }),
    kwokObject('ClusterPortForward', 'sample', {
      // The web server of kwok responds at every port of a pod (/healthz).
      forwards: [{ target: { address: '127.0.0.1', port } }],
    }),
  ]
  return documents.map(document => JSON.stringify(document)).join('\n---\n')
}

export function sampleLog({ runDir }: Settings): string {
  return join(runDir, 'sample-pod.log')
}

/** Returns the output of `kubectl logs`, in the format of container runtimes. */
export function sampleLogLines(now: Date): string {
  const line = (i: number) => {
    const at = new Date(now.getTime() - (200 - i) * 1000).toISOString().replace('Z', '000000Z')
    return `${at} ${i % 20 === 19 ? 'stderr' : 'stdout'} F request ${i + 1} answered in ${(i * 37) % 90} ms\n`
  }
  return Array.from({ length: 200 }, (_, i) => line(i)).join('')
}

function kwokObject(kind: string, name: string, spec: object): object {
  return { kind, apiVersion: 'kwok.x-k8s.io/v1alpha1', metadata: { name }, spec }
}
