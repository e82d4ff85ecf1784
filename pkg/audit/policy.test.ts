import { expect } from 'chai'
import { defaultPolicy, parsePolicy } from './policy.ts'

const head = 'apiVersion: audit.k8s.io/v1\nkind: Policy\n'
const rule = {
  ...{ users: [], userGroups: [], verbs: [], resources: [], namespaces: [], nonResourceURLs: [] },
  ...{ omitStages: [], omitManagedFields: false },
}

describe('parsePolicy', () => {
  it('reads every field of a rule', () => {
    const text = `${head}
omitStages: [RequestReceived]
omitManagedFields: true
rules:
  - level: RequestResponse
    users: [jane]
    userGroups: [dev]
    verbs: [create]
    resources:
      - group: apps
        resources: [deployments, deployments/scale]
        resourceNames: [web]
      - group: ""
    namespaces: [a, ""]
    omitStages: [ResponseStarted]
    omitManagedFields: false
  - level: None
    nonResourceURLs: ["/healthz*", "*"]
`
    expect(parsePolicy(text)).to.deep.equal({
      omitStages: ['RequestReceived'],
      rules: [
        {
          ...rule,
          level: 'RequestResponse',
          users: ['jane'],
          userGroups: ['dev'],
          verbs: ['create'],
          resources: [
            { group: 'apps', resources: ['deployments', 'deployments/scale'], resourceNames: ['web'] },
            { group: '', resources: [], resourceNames: [] },
          ],
          namespaces: ['a', ''],
          omitStages: ['ResponseStarted'],
        },
        { ...rule, level: 'None', nonResourceURLs: ['/healthz*', '*'], omitManagedFields: true },
      ],
    })
  })

  it('returns the default policy without a file', () => {
    expect(parsePolicy(defaultPolicy).rules.map(({ level }) => level)).to.deep.equal(['None', 'Metadata'])
  })

  const invalid: readonly (readonly [what: string, text: string, problems: readonly string[]])[] = [
    [
      'an unknown apiVersion',
      'apiVersion: audit.k8s.io/v1beta1\nkind: Policy\nrules: [{level: None}]',
      ['apiVersion: must be audit.k8s.io/v1'],
    ],
    [
      'an unknown kind',
      'apiVersion: audit.k8s.io/v1\nkind: Event\nrules: [{level: None}]',
      ['kind: must be Policy'],
    ],
    ['an empty list of rules', head, ['rules: must have at least one rule, otherwise nothing is audited']],
    [
      'a missing level',
      `${head}rules: [{verbs: [get]}]`,
      ['rules[0].level: must be one of None, Metadata, Request, RequestResponse'],
    ],
    [
      'a misspelt field, which would match more requests than intended',
      `${head}rules: [{level: None, namespace: [a]}]`,
      [
        'rules[0].namespace: unknown; supported: level, users, userGroups, verbs, resources, namespaces, nonResourceURLs, omitStages, omitManagedFields',
      ],
    ],
    [
      'a string instead of a list',
      `${head}rules: [{level: None, users: jane}]`,
      ['rules[0].users: must be a list of strings'],
    ],
    [
      'an unknown stage',
      `${head}omitStages: [Started]\nrules: [{level: None}]`,
      ['omitStages: must be one of RequestReceived, ResponseStarted, ResponseComplete, Panic, not "Started"'],
    ],
    [
      'names without resources',
      `${head}rules: [{level: None, resources: [{group: "", resourceNames: [a]}]}]`,
      ['rules[0].resources[0].resourceNames: requires resources'],
    ],
    [
      'resources and paths in one rule',
      `${head}rules: [{level: None, namespaces: [a], nonResourceURLs: [/x]}]`,
      ['rules[0]: resources and nonResourceURLs cannot be combined in a rule'],
    ],
    [
      'a star in the middle of a path',
      `${head}rules: [{level: None, nonResourceURLs: ["/a*/b"]}]`,
      ['rules[0].nonResourceURLs: "/a*/b" must begin with / and may have * only at its end'],
    ],
    [
      'several mistakes, reported together',
      'apiVersion: audit.k8s.io/v1\nkind: X\nrules: [[]]',
      [
        'kind: must be Policy',
        'rules[0]: must be a mapping',
        'rules[0].level: must be one of None, Metadata, Request, RequestResponse',
      ],
    ],
  ]
  for (const [what, text, problems] of invalid) {
    it(`rejects ${what}`, () => {
      expect(() => parsePolicy(text)).to.throw(
        `invalid audit policy:\n${problems.map(p => `  ${p}`).join('\n')}`,
      )
    })
  }

  it('rejects what is not valid YAML', () => {
    expect(() => parsePolicy('rules: [')).to.throw('invalid audit policy: ')
  })
})
