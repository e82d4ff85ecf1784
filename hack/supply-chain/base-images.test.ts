import { expect } from 'chai'
import { baseImageFaults } from './base-images.ts'

const digest = `sha256:${'0af1'.repeat(16)}`
const node = `node:24.1.2-slim@${digest}`
const faults = (...lines: readonly string[]) => baseImageFaults('Dockerfile', lines.join('\n'), '24.1.2')

describe('baseImageFaults', () => {
  it('returns nothing for stages with pinned images', () => {
    expect(
      faults(
        `ARG NODE_IMAGE=${node}`,
        // biome-ignore lint/suspicious/noTemplateCurlyInString: Docker's own
        'FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build',
        'RUN node --version',
        'FROM $NODE_IMAGE AS node',
        `FROM host:5000/base@${digest}`,
        'COPY --from=build /a /a',
        'COPY --chown=1:1 --from=node /usr/local/bin/node /node',
        `COPY --from=tools@${digest} /b /b`,
        'RUN --mount=type=bind,from=node,target=/node true',
        `RUN --mount=from=tools@${digest},target=/tools true`,
        'FROM scratch',
      ),
    ).to.deep.equal([])
  })

  const invalid: readonly [string, readonly string[], string][] = [
    ['a tag', ['FROM base:1'], 'base:1 is not pinned by its digest'],
    ['a missing tag', ['from base as x'], 'base is not pinned by its digest'],
    ['a truncated digest', [`FROM base@${digest.slice(0, -1)}`], 'is not pinned by its digest'],
    ['a build argument with a tag', ['ARG A=base:1', 'FROM $A'], 'base:1 is not pinned by its digest'],
    ['a build argument without a default', ['ARG A', 'FROM $A'], 'FROM $A is not pinned by its digest'],
    ['a COPY from an image by tag', ['COPY --from=tools:1 /a /a'], 'tools:1 is not pinned by its digest'],
    ['a mount from an image by tag', ['RUN --mount=type=bind,from=tools:1,target=/a true'], 'tools:1 is not'],
    [
      'another Node.js',
      [`FROM docker.io/library/${node.replace('24.1.2', '24.1.1')}`],
      'not that of hack/node',
    ],
    [
      'a frontend',
      ['# syntax=docker/dockerfile:1'],
      'remove the syntax directive, so that the built-in frontend is used',
    ],
  ]
  for (const [what, lines, fault] of invalid) {
    it(`reports ${what}`, () => {
      expect(faults(...lines)).to.have.length(1)
      expect(faults(...lines)[0]).to.include(fault)
    })
  }
})
