import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { loadVersions, type Versions } from './versions.ts'

export type BinaryName = 'etcd' | 'kube-apiserver' | 'kubectl' | 'kube-controller-manager' | 'kwok'
/** Programs that only tests need: those of Kubernetes (make test-kubernetes) and of the chart. */
export type TestBinaryName = 'kubectl-convert' | 'e2e.test' | 'helm'
/** Reports the progress of a build, and cancels the build. */
export type BuildTools = { readonly say: (line: string) => void; readonly signal: AbortSignal }

type Source = {
  readonly folder: string
  readonly module: string
  readonly about: string
  /** Whether it is a test program, which `go test -c` builds. */
  readonly isTest?: true
}

/** The folder of the Go module (below hack/controlplane), package, and duration of the build. */
export const sources: Readonly<Record<BinaryName | TestBinaryName, Source>> = {
  etcd: { folder: '.', module: 'go.etcd.io/etcd/server/v3', about: 'about 30 s' },
  'kube-apiserver': { folder: '.', module: 'k8s.io/kubernetes/cmd/kube-apiserver', about: 'about 5 min' },
  kubectl: { folder: '.', module: 'k8s.io/kubernetes/cmd/kubectl', about: 'about 30 s' },
  'kube-controller-manager': {
    folder: '.',
    module: 'k8s.io/kubernetes/cmd/kube-controller-manager',
    about: 'about 90 s',
  },
  kwok: { folder: 'kwok', module: 'sigs.k8s.io/kwok/cmd/kwok', about: 'about 40 s' },
  'kubectl-convert': { folder: '.', module: 'k8s.io/kubernetes/cmd/kubectl-convert', about: 'about 30 s' },
  helm: { folder: '../../test/helm', module: 'helm.sh/helm/v3/cmd/helm', about: 'about 30 s' },
  'e2e.test': { folder: '../../test/kubernetes', module: '.', about: 'about 6 min', isTest: true },
}

const heartbeatMs = 15_000

/**
 * Builds a program from its Go module, pinned by the go.sum next to it.
 *
 * @throws Error if Go is missing or the build fails, with the output of the compiler
 */
export async function buildBinary(
  name: BinaryName | TestBinaryName,
  target: string,
  { say, signal }: BuildTools,
): Promise<void> {
  if (spawnSync('go', ['version']).error) {
    throw new Error(
      `${name} must be built, but Go is not installed. Install Go 1.26 or newer (https://go.dev/dl), or point ` +
        'KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver, kubectl, kube-controller-manager and kwok.',
    )
  }
  const { folder, module, about, isTest = false } = sources[name]
  say(`building ${name} (${about} on two cores the first time)`)
  const started = Date.now()
  const heartbeat = setInterval(() => say(`still building ${name}`), heartbeatMs)
  try {
    await run(
      [
        ...(isTest ? ['test', '-c'] : ['build']),
        ...['-trimpath', '-ldflags', linkerFlags(loadVersions()), '-o', target, module],
      ],
      folder,
      signal,
    )
  } finally {
    clearInterval(heartbeat)
  }
  say(`built ${name} in ${Math.round((Date.now() - started) / 1000)} s`)
}

async function run(args: readonly string[], folder: string, signal: AbortSignal): Promise<void> {
  // Without cgo, programs run with any C library of Linux, so containers can share the cache.
  const env = { ...process.env, CGO_ENABLED: '0' }
  const cwd = join(import.meta.dirname, '..', folder)
  await promisify(execFile)('go', args, { cwd, env, signal, maxBuffer: 2 ** 30 }).catch(
    ({ message, stderr }) => {
      throw new Error(
        `go ${args[0]} failed:\n${String(stderr || message)
          .trim()
          .slice(-4000)}`,
      )
    },
  )
}

/** Returns linker flags with the versions: features of Kubernetes depend on its version. */
function linkerFlags({ kubernetes, kwok }: Versions): string {
  const [major = '', minor = ''] = kubernetes.split('.')
  const values = { gitVersion: `v${kubernetes}`, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' }
  const packages = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version']
  const stamps = packages.flatMap(path =>
    Object.entries(values).map(([key, value]) => `-X ${path}.${key}=${value}`),
  )
  return ['-s', '-w', ...stamps, `-X sigs.k8s.io/kwok/pkg/consts.Version=v${kwok}`].join(' ')
}
