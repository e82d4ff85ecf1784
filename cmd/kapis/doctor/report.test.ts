import { expect } from 'chai'
import { error, warning } from './check.ts'
import { toText } from './report.ts'

describe('toText', () => {
  it('prints one line for a passed check, and two for a failed one', () => {
    const findings = [error('it is broken', 'fix it'), warning('it is old', 'renew it')]
    expect(
      toText([
        { check: 'service', findings: [] },
        { check: 'rights', findings },
      ]),
    ).to.equal(
      [
        'ok       service',
        'error    rights: it is broken',
        '         fix: fix it',
        'warning  rights: it is old',
        '         fix: renew it',
        '',
        '1 error, 1 warning',
        '',
      ].join('\n'),
    )
  })

  it('counts passed and failed checks', () => {
    expect(toText([{ check: 'service', findings: [] }])).to.equal(
      'ok       service\n\n0 errors, 0 warnings\n',
    )
    const two = [error('a', 'b'), error('c', 'd')]
    expect(toText([{ check: 'service', findings: two }])).to.match(/\n2 errors, 0 warnings\n$/)
  })
})
