import { expect } from 'chai'
import { contextFaults } from './build-context.ts'

const dockerfile = (text: string) => ({ file: 'Dockerfile', text })
const exists = (path: string) => ['package.json', 'pkg', 'hack/build.sh'].includes(path)

describe('contextFaults', () => {
  it('accepts files that exist and are not ignored', () => {
    const text =
      'COPY package.json \\\n  pkg ./\nCOPY --chown=0 hack/build.sh hack/build.sh\nCOPY --from=build /src/dist ./\n'
    const ignore = '*\n!package.json\n!pkg\n!hack/build.sh\n**/*.test.ts\n'
    expect(contextFaults(dockerfile(text), ignore, exists)).to.deep.equal([])
  })

  it('names files that are missing or ignored', () => {
    const text = 'COPY package.json nowhere ./\nCOPY pkg pkg\n'
    expect(contextFaults(dockerfile(text), '*\n!package.json\n!nowhere\n!LICENSE\n', exists)).to.deep.equal([
      'Dockerfile: there is no nowhere',
      'Dockerfile: .dockerignore keeps pkg back',
      '.dockerignore: Dockerfile does not take LICENSE',
    ])
  })
})
