import fc from 'fast-check'
import { encodeAt, of, weighted, words } from './arbitraries.ts'
import type { MarkedObject, Scene } from './model.ts'

/**
 * Generates queries about an object, including the `?`, with missing, single, repeated or misspelt
 * parameters.
 */
export function queriesAbout(object: MarkedObject, { objects, namespaces }: Scene): fc.Arbitrary<string> {
  const name = weighted(
    [3, fc.constant(object.name)],
    [2, of(...objects.map(each => each.name))],
    [1, of('', '*')],
  )
  const term = fc
    .tuple(
      of('metadata.name', 'metadata.name', 'metadata.namespace', 'spec.nodeName', 'metadata.uid', ''),
      words('= == != %3D %3D%3D'),
      weighted([5, name], [1, of(namespaces.a, namespaces.b)]),
    )
    .map(parts => parts.join(''))
  const selector = weighted(
    [3, fc.constant(`metadata.name%3D${object.name}`)],
    [2, fc.array(term, { minLength: 1, maxLength: 2 }).map(terms => terms.join('%2C'))],
    [1, fc.constant('')],
  )
  const key = (text: string) =>
    weighted(
      [8, fc.constant(text)],
      [1, fc.nat(20).map(at => encodeAt(text, at))],
      [1, fc.constant(text.toUpperCase())],
    )
  const pair = (keys: fc.Arbitrary<string>, values: fc.Arbitrary<string>) =>
    fc.tuple(keys, values).map(([left, right]) => `${left}=${right}`)
  const parameter = weighted<string>(
    [8, pair(key('fieldSelector'), selector)],
    [2, pair(key('labelSelector'), of('', 'test', '!test', 'test%20in%20(a)', 'a%3Db'))],
    [4, pair(key('watch'), of('true', '1', '', 'false', '0', 'TRUE', 'no'))],
    [2, pair(key('limit'), of('1', '500', '0', '-1', 'x'))],
    [1, pair(key('resourceVersion'), of('0', '1', '', 'x'))],
    [
      2,
      words(
        'resourceVersionMatch=NotOlderThan sendInitialEvents=true allowWatchBookmarks=true continue=x pretty=1',
      ),
    ],
    [3, pair(words('name names namespace ownerKind ownerReference uid status node q'), name)],
    [
      2,
      words(
        'fields=metadata.name fields=metadata.annotations sortBy=name sortBy=metadata.annotations page=1',
      ),
    ],
    [1, words('follow=1 follow=true timeoutSeconds=1 timeout=1s dryRun=All as=admin command=id stdin=1')],
    [
      1,
      words(
        'verb=get resource=secrets path=/api impersonate-user=admin access_token=x = % ; a;fieldSelector=',
      ),
    ],
  )
  const parameters = weighted(
    [4, fc.constant<string[]>([])],
    [4, parameter.map(one => [one])],
    [3, fc.array(parameter, { minLength: 2, maxLength: 3 })],
    [1, fc.tuple(parameter, parameter).map(([one, two]) => [one, two, one])],
  )
  return parameters.map(all => (all.length === 0 ? '' : `?${all.join('&')}`))
}
