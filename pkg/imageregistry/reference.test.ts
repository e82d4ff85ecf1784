import { expect } from 'chai'
import { thrownFields } from '../apierrors/fixtures.ts'
import { parseImageReference } from './reference.ts'

const digest = `sha256:${'a1'.repeat(32)}`
const broadcaster = 'registry-1.docker.io'

describe('parseImageReference', () => {
  const valid: readonly [string, string, string, string][] = [
    ['nginx', broadcaster, 'library/nginx', 'latest'],
    ['nginx:1.27', broadcaster, 'library/nginx', '1.27'],
    ['team/app', broadcaster, 'team/app', 'latest'],
    ['docker.io/nginx', broadcaster, 'library/nginx', 'latest'],
    ['index.docker.io/team/app:x', broadcaster, 'team/app', 'x'],
    ['registry.example.com/team/app:1.2', 'registry.example.com', 'team/app', '1.2'],
    ['registry.example.com:5000/app', 'registry.example.com:5000', 'app', 'latest'],
    ['localhost/app', 'localhost', 'app', 'latest'],
    ['localhost:5000/a/b/c:T_1.2-3', 'localhost:5000', 'a/b/c', 'T_1.2-3'],
    [`ghcr.io/team/app@${digest}`, 'ghcr.io', 'team/app', digest],
    [`ghcr.io/team/app:1@${digest}`, 'ghcr.io', 'team/app', digest],
  ]
  for (const [text, host, repository, reference] of valid) {
    it(text, () => {
      expect(parseImageReference(text, 'image')).to.deep.equal({ host, repository, reference })
    })
  }

  const invalid = [
    '',
    ':1',
    'UPPER/case',
    'a b',
    'app:',
    'app:-1',
    `app:${'x'.repeat(129)}`,
    'app@sha256:short',
    'app@md5:0123',
    'registry.example.com/../secret',
    'registry.example.com/a//b',
    'registry.example.com/a?x=y',
    'user@registry.example.com/app',
    'registry.example.com:port/app',
    'http://registry.example.com/app',
    '-bad.example.com/app',
    `r.example.com/${'a/'.repeat(200)}a`,
  ]
  for (const text of invalid) {
    it(`rejects ${JSON.stringify(text.slice(0, 60))}`, () => {
      expect(thrownFields(() => parseImageReference(text, 'image'))).to.deep.equal({
        code: 400,
        reason: 'BadRequest',
        message: `image ${JSON.stringify(text)} is not a valid image name; example: registry.example.com/team/app:1.2`,
      })
    })
  }
})
