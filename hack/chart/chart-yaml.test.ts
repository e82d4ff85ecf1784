import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { repository } from '../controlplane/settings.ts'
import { renderChartYaml } from './chart-yaml.ts'

describe('renderChartYaml', () => {
  const one = new Map([
    ['templates/a.yaml', 'a'],
    ['templates/b.yaml', 'b'],
  ])

  it('is the same for the same templates, in any order', () => {
    expect(renderChartYaml(new Map([...one].toReversed()))).to.equal(renderChartYaml(one))
  })

  for (const [what, templates] of [
    ['a text', new Map([...one, ['templates/b.yaml', 'c']])],
    ['a name', new Map([...one, ['templates/c.yaml', 'b']])],
    ['where a text ends', new Map([['templates/a.yaml', 'atemplates/b.yamlb']])],
  ] as const) {
    it(`is another one when ${what} is another one`, () => {
      expect(renderChartYaml(templates)).to.not.equal(renderChartYaml(one))
    })
  }

  it('has the version of package.json', () => {
    const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
    expect(renderChartYaml(one)).to.include(`\nversion: ${version}\nappVersion: "${version}"\n`)
  })
})
