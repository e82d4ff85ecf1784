import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { kubectlOutput } from './cluster.ts'
import { eventually, groupDomain } from './http.ts'
import { run } from './run.ts'

const repository = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, repository), 'utf8')
const blocks = [...read('README.md').matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, text = '']) => text)

describe('the README', function () {
  this.timeout(60_000)

  it('contains commands that work in sequence', async () => {
    // `make run` has started the servers of this test; all other lines are executed as written.
    const typed = blocks
      .filter(block => !block.includes('make run'))
      .map(block => block.replace(/^\. \.run\/env$/m, ''))
    expect(typed.length).to.be.greaterThan(1)
    const script = typed.join('\n').replaceAll('resources.kapis.io', `resources.${groupDomain}`)
    const { code, stdout, stderr } = await run('bash', ['-euo', 'pipefail', '-c', script], {
      timeoutMs: 50_000,
    })
    expect(code, stderr).to.equal(0)
    expect(stdout).to.match(/^NAME +STATUS +ROLES/m)
    expect(stdout.match(/^\{"items":\[\{.*\}\],"totalItems":[1-9]\d*\}$/gm), stdout).to.have.length(2)
    expect(stdout).to.not.include('"kind":"Status"')
  })

  it('shows an existing node', async () => {
    const [, name = ''] = /^```text\nNAME .*\n([\w-]+) /m.exec(read('README.md')) ?? []
    expect(await kubectlOutput('get', 'nodes', '-o', 'name')).to.include(`node/${name}\n`)
  })

  it('has documents whose command line works with any Node.js version of the machine', async () => {
    const script = fileURLToPath(new URL('hack/kapis.sh', repository))
    const { code, stdout, stderr } = await run(script, ['version'], { cwd: '/' })
    expect([code, stdout], stderr).to.deep.equal([0, `kapis ${JSON.parse(read('package.json')).version}\n`])
    for (const name of ['docs/installation.md', 'docs/operations.md', 'docs/runbooks.md', 'docs/login.md']) {
      expect(read(name), name).to.include('hack/kapis.sh').and.not.include('node cmd/kapis')
    }
  })

  it('names existing make targets', () => {
    const targets = new Set([...read('Makefile').matchAll(/^([a-z0-9-]+):/gm)].map(([, name]) => name))
    const named = [...read('README.md').matchAll(/(?:`|^)(?:[A-Z]+=\S+ )?make ([a-z][a-z0-9-]*)/gm)].map(
      ([, name]) => name,
    )
    expect(named).to.include('run')
    for (const name of named) expect([...targets], `make ${name}`).to.include(name)
  })

  it('contains an example that lists pods page by page', async () => {
    const script = fileURLToPath(new URL('examples/scripts/list-pods.sh', repository))
    // Repeated: a list that changes between two pages may omit an object.
    await eventually(async () => {
      const { code, stdout, stderr } = await run('sh', [script], { env: { PAGE_SIZE: '3' } })
      expect(code, stderr).to.equal(0)
      const path = 'jsonpath={.items[*].metadata.name}'
      const there = (await kubectlOutput('get', 'pods', '-A', '-o', path)).split(' ')
      expect(there.length).to.be.greaterThan(3)
      expect(stdout.trimEnd().split('\n')).to.have.members(there)
    }, 20_000)
  })
})
