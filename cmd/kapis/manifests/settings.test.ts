import { expect } from 'chai'
import { parseManifestSettings } from './settings.ts'

const digest = `sha256:${'0af'.repeat(21)}f`

describe('parseManifestSettings', () => {
  it('returns the default overlay unchanged without options', () => {
    expect(parseManifestSettings([])).to.deep.equal({ overlay: 'default' })
  })

  it('reads every option', () => {
    const args = ['--overlay=ha', '--group-domain', 'a.example', '-n', 'x', '--replicas', '3', '--image']
    for (const image of [
      'kapis',
      'kapis:1',
      'host:5000/a/kapis',
      'host:5000/a/kapis:1.2',
      `a/kapis@${digest}`,
    ]) {
      expect(parseManifestSettings([...args, image])).to.deep.equal({
        overlay: 'ha',
        groupDomain: 'a.example',
        namespace: 'x',
        image,
        replicas: 3,
      })
    }
  })

  const invalid: readonly [string, string, string][] = [
    ['group-domain', 'Example.io', 'a DNS subdomain such as example.io'],
    ['group-domain', 'io', 'a DNS subdomain such as example.io'],
    ['group-domain', 'a.io\nkind: x', 'a DNS subdomain such as example.io'],
    ['namespace', 'a.b', 'a namespace name'],
    ['namespace', 'a'.repeat(64), 'a namespace name'],
    ['image', 'kapis:', 'name[:tag][@sha256:digest]'],
    ['image', 'kapis@sha256:12', 'name[:tag][@sha256:digest]'],
    ['replicas', '0', 'a number from 1 to 99'],
    ['replicas', 'two', 'a number from 1 to 99'],
  ]
  for (const [option, value, is] of invalid) {
    it(`rejects --${option} ${JSON.stringify(value)}`, () => {
      expect(() => parseManifestSettings([`--${option}`, value])).to.throw(
        `invalid --${option} ${JSON.stringify(value)}: expected ${is}`,
      )
    })
  }
})
