import type { Registry } from 'prom-client'
import Counter from 'prom-client/lib/counter.js'
import eventLoopLag from 'prom-client/lib/metrics/eventLoopLag.js'
import gc from 'prom-client/lib/metrics/gc.js'
import heapSizeAndUsed from 'prom-client/lib/metrics/heapSizeAndUsed.js'
import heapSpacesSizeAndUsed from 'prom-client/lib/metrics/heapSpacesSizeAndUsed.js'
import osMemoryHeap from 'prom-client/lib/metrics/osMemoryHeap.js'
import processHandles from 'prom-client/lib/metrics/processHandles.js'
import processMaxFileDescriptors from 'prom-client/lib/metrics/processMaxFileDescriptors.js'
import processOpenFileDescriptors from 'prom-client/lib/metrics/processOpenFileDescriptors.js'
import processRequests from 'prom-client/lib/metrics/processRequests.js'
import processResources from 'prom-client/lib/metrics/processResources.js'
import processStartTime from 'prom-client/lib/metrics/processStartTime.js'
import version from 'prom-client/lib/metrics/version.js'

const lagResolutionMs = 10

/**
 * What prom-client tells of every process. Its entry is not loaded: for exemplars of the CPU's counters, which nobody has asked for,
 * it brings the API of OpenTelemetry along, and with it ten megabytes.
 */
export function observeProcess(registry: Registry): void {
  observeCpu(registry)
  eventLoopLag(registry, { eventLoopMonitoringPrecision: lagResolutionMs })
  for (const observe of [
    processStartTime,
    osMemoryHeap,
    processOpenFileDescriptors,
    processMaxFileDescriptors,
    processResources,
    processHandles,
    processRequests,
    heapSizeAndUsed,
    heapSpacesSizeAndUsed,
    version,
    gc,
  ])
    observe(registry)
}

function observeCpu(registry: Registry): void {
  let last = process.cpuUsage()
  const registers = [registry]
  const user = new Counter({
    name: 'process_cpu_user_seconds_total',
    help: 'Total user CPU time spent in seconds.',
    registers,
    collect() {
      const now = process.cpuUsage()
      const seconds = { user: (now.user - last.user) / 1e6, system: (now.system - last.system) / 1e6 }
      last = now
      user.inc(seconds.user)
      system.inc(seconds.system)
      all.inc(seconds.user + seconds.system)
    },
  })
  const system = new Counter({
    name: 'process_cpu_system_seconds_total',
    help: 'Total system CPU time spent in seconds.',
    registers,
  })
  const all = new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Total user and system CPU time spent in seconds.',
    registers,
  })
}
