import { expect } from 'chai'
import { findCircles } from './circles.ts'

describe('findCircles', () => {
  const find = (files: Record<string, string>) =>
    findCircles(Object.entries(files).map(([path, text]) => ({ path, text })))

  it('finds nothing where imports go one way, by two ways too', () => {
    const files = {
      'pkg/a/x.ts': "import './y.ts'\nimport '../b/z.ts'\nimport 'node:fs'",
      'pkg/a/y.ts': "import '../b/z.ts'",
      'pkg/b/z.ts': '',
    }
    expect(find(files)).to.deep.equal([])
  })

  it('tells of two files that import each other, types too, at the import that closes the circle', () => {
    const files = {
      'pkg/a/x.ts': "import { y } from './y.ts'",
      'pkg/a/y.ts': "import 'node:fs'\nimport type { X } from './x.ts'",
    }
    expect(find(files)).to.deep.equal([
      {
        file: 'pkg/a/y.ts',
        line: 2,
        message: 'files import each other in a circle: pkg/a/x.ts -> pkg/a/y.ts -> pkg/a/x.ts',
      },
    ])
  })

  it('tells the circle alone, without the way to it, and once', () => {
    const files = {
      'pkg/a/w.ts': "import './x.ts'",
      'pkg/a/v.ts': "import './y.ts'",
      'pkg/a/x.ts': "import './y.ts'",
      'pkg/a/y.ts': "import './z.ts'",
      'pkg/a/z.ts': "import './x.ts'",
    }
    expect(find(files).map(({ file, message }) => [file, message])).to.deep.equal([
      [
        'pkg/a/z.ts',
        'files import each other in a circle: pkg/a/x.ts -> pkg/a/y.ts -> pkg/a/z.ts -> pkg/a/x.ts',
      ],
    ])
  })

  it('tells of a file that imports itself', () => {
    expect(find({ 'pkg/a/x.ts': "import './x.ts'" })).to.have.length(1)
  })
})
