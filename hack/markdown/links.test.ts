import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { repository } from '../controlplane/settings.ts'

const folder = join(repository, 'docs/contributing')
const walkthrough = readFileSync(join(folder, 'walkthrough.md'), 'utf8')

/** Lints a document of docs/contributing as `make verify` does. @returns the errors */
function lint(text: string): readonly string[] {
  const { stderr, error } = spawnSync(
    process.execPath,
    [
      join(repository, 'node_modules/markdownlint-cli2/markdownlint-cli2-bin.mjs'),
      ...['-', '--no-globs', '--config', join(repository, '.markdownlint-cli2.jsonc')],
    ],
    { cwd: folder, input: text, encoding: 'utf8' },
  )
  if (error !== undefined) throw error
  return stderr.split('\n').filter(line => line !== '')
}

describe('links of documents', () => {
  it('accepts files, headings, other hosts and paths of the repository', () => {
    const links = [
      '[a](walkthrough.md), [b](../../Makefile), [c](../../pkg/)',
      '[a](#title), [b](../../CONTRIBUTING.md#where-things-go), [c](https://example.com/x)',
      '`[a](nowhere.md)`, `pkg/authn`, `pkg/authn/` and `pkg/<name>.ts`',
      '```text\n[a](nowhere.md) `pkg/gone.ts`\n```',
    ]
    expect(lint(`# Title\n\n${links.join('\n\n')}\n`)).to.deep.equal([])
  })

  const broken: readonly (readonly [text: string, rule: string])[] = [
    ['[a](gone.md)', 'relative-links'],
    ['![a](gone.svg)', 'relative-links'],
    ['[a](../../CONTRIBUTING.md#gone)', 'relative-links'],
    ['[a](#gone)', 'link-fragments'],
    ['`pkg/gone.ts`', 'code-paths'],
  ]
  it('reports what does not exist', () => {
    const errors = lint(`# Title\n\n${broken.map(([text]) => text).join('\n')}\n`)
    expect(errors).to.have.lengthOf(broken.length)
    for (const [i, [text, rule]] of broken.entries())
      expect(
        errors.some(line => line.startsWith(`stdin:${i + 3}`) && line.includes(rule)),
        text,
      ).to.equal(true)
  })

  it('reports a file of the walkthrough that was renamed', () => {
    expect(lint(walkthrough)).to.deep.equal([])
    const renamed = walkthrough.replaceAll('pkg/audit/auditor.ts', 'pkg/audit/renamed.ts')
    expect(lint(renamed).join('\n')).to.include('"../../pkg/audit/renamed.ts" should exist')
  })
})
