import { expect } from 'chai'
import { findNamedTests, findProblem } from './named-tests.ts'

describe('findNamedTests', () => {
  it('finds each file with its titles and line', () => {
    const text =
      '# a\n| x | `pkg/a.test.ts`: "does it", "and that"; `test/b.ts`: "it’s (CVE-1)" |\n`c.ts` is no test'
    expect(findNamedTests(text)).to.deep.equal([
      { file: 'pkg/a.test.ts', title: 'does it', line: 2 },
      { file: 'pkg/a.test.ts', title: 'and that', line: 2 },
      { file: 'test/b.ts', title: 'it’s (CVE-1)', line: 2 },
    ])
  })
})

describe('findProblem', () => {
  const named = { file: 'a.test.ts', title: "another's frame", line: 1 }
  it('returns nothing if the file contains the title, escaped or not', () => {
    expect(findProblem(named, `it("another's frame", f)`)).to.equal(undefined)
    expect(findProblem(named, `it('another\\'s frame', f)`)).to.equal(undefined)
  })
  it('names the missing file, and the missing title', () => {
    expect(findProblem(named, undefined)).to.equal('a.test.ts does not exist')
    expect(findProblem(named, "it('other', f)")).to.equal(`a.test.ts has no test "another's frame"`)
  })
})
