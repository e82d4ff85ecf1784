import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'chai'

/** Libraries that take 0.1 s and tens of megabytes each to load, and are not needed at startup. */
const later = [
  '@kubernetes/client-node',
  // Except for its small `api`, which prom-client loads.
  '@opentelemetry/(?!api/)[^/]+',
  'node-forge',
  '@simplewebauthn',
]

describe('the modules at program start', () => {
  for (const program of ['apiserver', 'oauth']) {
    it(`of ${program} do not include what is needed later or never`, async function () {
      this.timeout(60_000)
      const entry = new URL(`../${program}/run.ts`, import.meta.url)
      const script = `const { registerHooks } = await import('node:module')
        const files = []
        registerHooks({ load: (url, context, next) => (files.push(url), next(url, context)) })
        await import('${entry}')
        const own = process.moduleLoadList.filter(name => name.includes('undici'))
        console.log(JSON.stringify([...files, ...own]))
        process.exit(0)`
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
      const files: readonly string[] = JSON.parse(stdout)
      expect(files.some(file => file.includes('/node_modules/prom-client/'))).to.equal(true)
      // Modules that an import of node:http would load (pkg/httpserver/node-http.ts).
      expect(files.filter(file => file.startsWith('NativeModule'))).to.deep.equal([])
      for (const library of later) {
        const pattern = new RegExp(`/node_modules/${library}/`)
        expect(files.filter(file => pattern.test(file))).to.deep.equal([])
      }
    })
  }
})
