import { expect } from 'chai'
import { thrownFields } from '../../apierrors/fixtures.ts'
import { findPaths } from '../../json/path.ts'
import { parseJsonPath } from './json-path.ts'

const object = {
  metadata: { name: 'a', labels: { 'app.kubernetes.io/name': 'web', "it's": 'quoted' } },
  spec: {
    containers: [{ name: 'x' }, { name: 'y', ports: [{ containerPort: 80 }] }],
    replicas: 0,
    on: false,
  },
  status: { none: null },
}

describe('parseJsonPath', () => {
  const table: readonly [string, unknown][] = [
    ['.metadata.name', 'a'],
    ['metadata.name', 'a'],
    ['$.metadata.name', 'a'],
    ['{.metadata.name}', 'a'],
    ['{$.metadata.name}', 'a'],
    ['.metadata.labels.app\\.kubernetes\\.io/name', 'web'],
    [".metadata.labels['app.kubernetes.io/name']", 'web'],
    ['.metadata.labels["app.kubernetes.io/name"]', 'web'],
    [".metadata.labels['it\\'s']", 'quoted'],
    ['.spec.containers[1].name', 'y'],
    ['.spec.containers[*].ports[0].containerPort', 80],
    ['.spec.containers[9].name', undefined],
    ['.spec.containers.name', undefined],
    ['.spec.replicas', 0],
    ['.spec.on', false],
    ['.status.none', null],
    ['.status.none.more', undefined],
    ['.metadata.*', 'a'],
    ['.constructor', undefined],
    ['.metadata.labels.__proto__', undefined],
    ['.spec.containers.length', undefined],
  ]
  for (const [path, expected] of table) {
    it(`reads ${path}`, () => {
      const [found] = findPaths(JSON.stringify(object), [parseJsonPath(path, 'sortBy')])
      expect(found).to.equal(JSON.stringify(expected))
    })
  }

  const refused: readonly [string, number][] = [
    ['', 0],
    ['.a..b', 2],
    ['.a[', 2],
    ['.a[x]', 2],
    ['.a[-1]', 2],
    ["['a", 0],
    ['.a b{', 4],
    ['.a[?(@.b=="c")]', 2],
    ['..a', 0],
    ['a.', 1],
  ]
  for (const [path, at] of refused) {
    it(`rejects ${JSON.stringify(path)} at position ${at}`, () => {
      expect(thrownFields(() => parseJsonPath(path, 'fields'))).to.deep.equal({
        code: 400,
        reason: 'BadRequest',
        message: `fields ${JSON.stringify(path)} is invalid at position ${at}: expected a path such as .spec.nodeName, .status.conditions[0].type or .metadata.labels['a.b/c']`,
      })
    })
  }

  it('rejects more than 64 steps', () => {
    expect(parseJsonPath('.a'.repeat(64), 'fields')).to.have.length(64)
    expect(thrownFields(() => parseJsonPath('.a'.repeat(65), 'fields')).message).to.equal(
      'fields names a path of more than 64 steps',
    )
  })
})
