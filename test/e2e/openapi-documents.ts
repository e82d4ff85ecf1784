import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { expect } from 'chai'
import type { Answer } from './cluster.ts'
import { askAs } from './http.ts'

export type OpenApiOperation = { readonly responses: Readonly<Record<string, { readonly content?: object }>> }
export type OpenApiDocument = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
}

export type Documents = {
  readonly byKey: ReadonlyMap<string, OpenApiDocument>
  /** The referenced documents of kube-apiserver, by path. */
  readonly others: ReadonlyMap<string, unknown>
  /** Fails unless the document describes a response of this operation. */
  readonly expectDescribed: (method: string, template: string, answer: Answer) => void
}

const base = 'https://kapis'

/** Reads all documents of Kapis in the index, and the referenced documents of kube-apiserver. */
export async function readDocuments(token: string): Promise<Documents> {
  const read = async (path: string) => {
    const answer = await askAs(token, path)
    expect(answer.code, `${path}: ${answer.body}`).to.equal(200)
    return JSON.parse(answer.body)
  }
  const { paths } = await read('/openapi/v3')
  const own = Object.keys(paths).filter(key => /^(kapis|oauth)(\/|$)/.test(key))
  const byKey = new Map<string, OpenApiDocument>()
  // Not strict: schemas of kube-apiserver are OpenAPI 3.0, with keywords that a JSON Schema
  // validator does not know.
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false, validateSchema: false })
  formats.default(ajv)
  for (const key of own) {
    const document = await read(paths[key].serverRelativeURL)
    byKey.set(key, document)
    ajv.addSchema(document, `${base}/openapi/v3/${key}`)
  }
  const refs = JSON.stringify([...byKey.values()]).match(/"\/openapi\/v3\/[^"#]+#/g) ?? []
  const others = new Map<string, unknown>()
  for (const path of new Set(refs.map(ref => ref.slice(1, -1)))) {
    const other = await read(path)
    others.set(path, other)
    ajv.addSchema(other, base + path)
  }

  return {
    byKey,
    others,
    expectDescribed(method, template, answer) {
      const found = [...byKey].find(([, document]) => document.paths[template]?.[method] !== undefined)
      const what = `${method} ${template} ${answer.code}`
      const [key = '', document] = found ?? []
      const response = document?.paths[template]?.[method]?.responses[answer.code]
      expect(response, `${what} is not described: ${answer.body}`).to.not.equal(undefined)
      // The body of a redirect is for users only and not described.
      const isOnward = answer.code >= 300 && answer.code < 400
      if ((answer.body === '' || isOnward) && response?.content === undefined) return
      const type = String(answer.headers['content-type']).split(';')[0] ?? ''
      expect(response?.content, `${what} is described`).to.have.property(type)
      if (type !== 'application/json') return
      const pointer = ['paths', template, method, 'responses', String(answer.code), 'content', type, 'schema']
      const escaped = pointer.map(part =>
        encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')),
      )
      const schema = { $ref: `${base}/openapi/v3/${key}#/${escaped.join('/')}` }
      const isValid = ajv.validate(schema, JSON.parse(answer.body))
      expect(isValid, `${what}: ${ajv.errorsText()}\n${answer.body.slice(0, 1000)}`).to.equal(true)
    },
  }
}
