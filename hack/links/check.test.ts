import { expect } from 'chai'
import { findBrokenLinks } from './check.ts'

const other =
  '# A `title`, with (signs)\n\n## Twice\n\n## Twice\n\n<a id="byHand"></a>\n\n```\n## No heading\n```\n'

function check(text: string): readonly string[] {
  const documents = new Map([
    ['docs/a.md', `# Here\n\n${text}`],
    ['docs/other.md', other],
  ])
  return findBrokenLinks('docs/a.md', {
    exists: path => documents.has(path) || ['docs', 'Makefile', 'pkg/a.ts', 'pkg/b'].includes(path),
    read: path => documents.get(path) ?? '',
  })
}

describe('findBrokenLinks', () => {
  for (const good of [
    '[a](other.md) and [b](../Makefile), [c](../docs/)',
    '[a](#here)',
    '[a](other.md#a-title-with-signs)',
    '[a](other.md#twice-1)',
    '[a](other.md#byHand)',
    '[a](https://example.com/x) <mailto:a@example.com>',
    '`[a](nowhere.md)`',
    '`pkg/a.ts`, `pkg/b/` and `pkg/<name>.ts`',
    '```\npkg/gone.ts\n```',
    '```\n[a](nowhere.md)\n```',
  ])
    it(`accepts ${JSON.stringify(good)}`, () => expect(check(good)).to.deep.equal([]))

  const broken: readonly (readonly [string, string])[] = [
    ['[a](nowhere.md)', 'docs/a.md: nowhere.md does not exist'],
    ['![a](picture.svg)', 'docs/a.md: picture.svg does not exist'],
    ['[a](other.md#no-heading)', 'docs/a.md: other.md#no-heading has no heading #no-heading'],
    ['[a](#there)', 'docs/a.md: #there has no heading #there'],
    ['[a](../Makefile#x)', 'docs/a.md: ../Makefile#x has an anchor, but is not a document'],
    ['`pkg/gone.ts`', 'docs/a.md: pkg/gone.ts does not exist'],
    ['[a](../../x)', 'docs/a.md: ../../x points outside of the repository'],
  ]
  for (const [text, problem] of broken)
    it(`reports ${JSON.stringify(text)}`, () => expect(check(text)).to.deep.equal([problem]))
})
