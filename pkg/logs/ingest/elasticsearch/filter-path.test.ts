import { expect } from 'chai'
import { thrownFields } from '../../../apierrors/fixtures.ts'
import { filterValue, parseFilterPath } from './filter-path.ts'

describe('filter_path', () => {
  const error = { type: 'document_parsing_exception', reason: 'no' }
  const items = [{ create: { _index: 'a', status: 201 } }, { index: { _index: 'b', status: 400, error } }]
  const response = { took: 1, errors: true, items }
  const table: readonly (readonly [filter: string, kept: unknown])[] = [
    ['', response],
    ['errors', { errors: true }],
    ['took,errors', { took: 1, errors: true }],
    ['items', { items }],
    ['items.*.error', { items: [{ index: { error } }] }],
    ['items.*.error.type', { items: [{ index: { error: { type: error.type } } }] }],
    [
      'errors,items.*.status',
      { errors: true, items: [{ create: { status: 201 } }, { index: { status: 400 } }] },
    ],
    ['items.cr*te.st*', { items: [{ create: { status: 201 } }] }],
    ['**.status', { items: [{ create: { status: 201 } }, { index: { status: 400 } }] }],
    ['**', response],
    [`${'**.'.repeat(2000)}status`, { items: [{ create: { status: 201 } }, { index: { status: 400 } }] }],
    [`-${'**.'.repeat(2000)}_index,-**.**`, undefined],
    ['-items', { took: 1, errors: true }],
    ['-items.*.error,-took', { errors: true, items: [items[0], { index: { _index: 'b', status: 400 } }] }],
    [
      'items.*,-**._index,-**.reason',
      { items: [{ create: { status: 201 } }, { index: { status: 400, error: { type: error.type } } }] },
    ],
    ['ite*ems,took.x,e*o*z', undefined],
  ]
  for (const [filter, kept] of table) {
    it(`${filter.slice(0, 60) || 'without a path'} selects the named fields`, () => {
      expect(filterValue(response, parseFilterPath(filter))).to.deep.equal(kept)
    })
  }

  it('accepts at most 64 paths', () => {
    expect(thrownFields(() => parseFilterPath('a,'.repeat(65)))).to.deep.equal({
      code: 400,
      reason: 'BadRequest',
      message: 'filter_path has 65 paths; the limit is 64',
    })
  })
})
