import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'

const hack = join(import.meta.dirname, '../..')

/** The tracing of kwok needs newer versions, which the Kubernetes client does not depend on. */
const onlyTraced = /^go\.opentelemetry\.io\//

/** Returns the version of each module in a go.mod, required or replaced. */
function versionsIn(file: string): Map<string, string> {
  const text = readFileSync(join(hack, file), 'utf8')
  const required = [...text.matchAll(/^\s*(?:require )?(\S+\.\S+) (v\S+)/gm)]
  const replaced = [...text.matchAll(/^\s*(?:replace )?(\S+) => \S+ (v\S+)/gm)]
  return new Map([...required, ...replaced].map(([, module = '', version = '']) => [module, version]))
}

describe('the Go modules that are built next to kube-apiserver', () => {
  const kubeApiserver = versionsIn('controlplane/go.mod')

  // The compiler cache is shared: with one different version, the whole Kubernetes client would be
  // compiled again.
  const files: readonly (readonly [file: string, atLeast: number])[] = [
    ['controlplane/kwok/go.mod', 20],
    ['../test/helm/go.mod', 20],
    ['../test/informer/go.mod', 20],
    ['../test/conformance/go.mod', 20],
    ['../test/yaml/go.mod', 3],
    ['../test/requestinfo/go.mod', 19],
  ]
  for (const [file, atLeast] of files) {
    it(`have kube-apiserver's versions of shared dependencies: ${file}`, () => {
      const shared = [...versionsIn(file)].filter(([module]) => kubeApiserver.has(module))
      expect(shared.length).to.be.at.least(atLeast)
      const apart = shared.filter(([module, version]) => kubeApiserver.get(module) !== version)
      expect(apart.filter(([module]) => !onlyTraced.test(module))).to.deep.equal([])
    })
  }
})
