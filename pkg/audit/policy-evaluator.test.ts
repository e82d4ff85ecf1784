import { expect } from 'chai'
import { jane } from '../apirequest/fixtures.ts'
import { parseRequestInfo } from '../apirequest/request-info.ts'
import { parsePolicy } from './policy.ts'
import { evaluatePolicy } from './policy-evaluator.ts'

/**
 * Returns the level of a request under a policy with one rule: Request if the rule matches,
 * otherwise None.
 */
function levelOf(rule: string, method: string, path: string): string {
  return evaluatePolicy(policyOf(rule), parseRequestInfo(method, path), jane).level
}

function judgeAnonymous(rule: string): string {
  return evaluatePolicy(policyOf(rule), parseRequestInfo('GET', '/api/v1/pods'), undefined).level
}

function policyOf(rule: string) {
  return parsePolicy(`{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Request, ${rule}}]}`)
}

describe('evaluatePolicy', () => {
  const pods = '/api/v1/namespaces/a/pods/p'
  const cases: readonly (readonly [rule: string, method: string, path: string, matches: boolean])[] = [
    ['', 'GET', pods, true],
    ['', 'GET', '/version', true],
    ['users: [jane]', 'GET', pods, true],
    ['users: [bob]', 'GET', pods, false],
    ['userGroups: [ops, dev]', 'GET', pods, true],
    ['userGroups: [ops]', 'GET', pods, false],
    ['verbs: [get]', 'GET', pods, true],
    ['verbs: [get]', 'DELETE', pods, false],
    ['namespaces: [a]', 'GET', pods, true],
    ['namespaces: [b]', 'GET', pods, false],
    ['namespaces: [""]', 'GET', '/api/v1/nodes', true],
    ['namespaces: [a]', 'GET', '/version', false],
    ['resources: [{group: ""}]', 'GET', pods, true],
    ['resources: [{group: apps}]', 'GET', pods, false],
    ['resources: [{group: "", resources: [pods]}]', 'GET', pods, true],
    ['resources: [{group: "", resources: [pods]}]', 'GET', `${pods}/log`, false],
    ['resources: [{group: "", resources: [pods/log]}]', 'GET', `${pods}/log`, true],
    ['resources: [{group: "", resources: ["pods/*"]}]', 'GET', `${pods}/log`, true],
    ['resources: [{group: "", resources: ["pods/*"]}]', 'GET', pods, false],
    ['resources: [{group: "", resources: ["*/log"]}]', 'GET', `${pods}/log`, true],
    ['resources: [{group: "", resources: ["*"]}]', 'GET', `${pods}/log`, true],
    ['resources: [{group: "", resources: [pods], resourceNames: [p]}]', 'GET', pods, true],
    ['resources: [{group: "", resources: [pods], resourceNames: [q]}]', 'GET', pods, false],
    ['nonResourceURLs: [/version]', 'GET', '/version', true],
    ['nonResourceURLs: [/version]', 'GET', '/versions', false],
    ['nonResourceURLs: ["/open*"]', 'GET', '/openapi/v2', true],
    ['nonResourceURLs: ["*"]', 'GET', '/anything', true],
    ['nonResourceURLs: ["*"]', 'GET', pods, false],
  ]
  for (const [rule, method, path, matches] of cases) {
    it(`{${rule}} ${matches ? 'matches' : 'does not match'} ${method} ${path}`, () => {
      expect(levelOf(rule, method, path)).to.equal(matches ? 'Request' : 'None')
    })
  }

  it('does not match a rule for a user against a request without one', () => {
    for (const rule of ['users: [jane]', 'userGroups: [dev]'])
      expect(judgeAnonymous(rule), rule).to.equal('None')
  })

  it('uses the first matching rule, and merges omitted stages', () => {
    const policy = parsePolicy(`{apiVersion: audit.k8s.io/v1, kind: Policy, omitStages: [Panic], rules: [
      {level: None, verbs: [get]},
      {level: Metadata, omitStages: [RequestReceived], omitManagedFields: true},
      {level: RequestResponse}]}`)
    expect(evaluatePolicy(policy, parseRequestInfo('GET', pods), jane).level).to.equal('None')
    expect(evaluatePolicy(policy, parseRequestInfo('DELETE', pods), jane)).to.deep.equal({
      level: 'Metadata',
      omitStages: ['Panic', 'RequestReceived'],
      omitManagedFields: true,
    })
  })
})
